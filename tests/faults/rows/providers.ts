// Providers that fail over HTTP, seen through real packages of the AI SDK.
import { aiSdk } from '../../../src/entry/ai-sdk.ts';
import { createAgent, ErrorPolicy } from '../../../src/entry/index.ts';
import { connectModel } from '../../../src/testing/node/index.ts';
import type { Fault as ServerFault } from '../../support/recordings/fault-server.ts';
import { startFaultServer } from '../../support/recordings/fault-server.ts';
import type { Fault, Staged } from '../fault.ts';
import { leak, poison } from '../poison.ts';
import { createWorld, toStaged } from '../world.ts';

interface Setting {
  readonly provider?: 'openai' | 'anthropic';
  readonly errors?: ErrorPolicy;
}

/** Asks a provider that fails in this way, once. */
async function stageProvider(fault: ServerFault, { provider = 'openai', errors = ErrorPolicy.retryAll(1) }: Setting = {}): Promise<Staged> {
  const world = createWorld();
  const api = provider === 'openai' ? 'openai-chat' : 'anthropic';
  const server = await startFaultServer(fault, api);
  try {
    const model = aiSdk((await connectModel({ provider, api, modelId: 'large', baseURL: server.url })) as never);
    const agent = createAgent({ model, errors, ports: world.ports });
    // Not on the fake clock: the answer comes over a socket.
    return toStaged(world, await agent.start('Hello?', { onEvent: world.listen }).result);
  } finally {
    await server.close();
  }
}

const policy = 'ErrorPolicyCriterion';

export const providerFaults: readonly Fault[] = [
  {
    name: 'a provider that refuses the key, and repeats it',
    stage: () =>
      stageProvider({
        type: 'status',
        status: 401,
        body: { error: { message: `${leak.apiKey}. ${poison}`, type: 'invalid_request_error' } },
      }),
    truth: { status: 'failed', rule: policy, reason: ['Incorrect API key provided'], step: 1 },
  },
  {
    name: 'a provider that is overloaded, and asks for a wait of an hour',
    stage: () =>
      stageProvider(
        { type: 'status', status: 429, headers: { 'retry-after': '3600' }, body: { error: { message: 'You exceeded your quota.' } } },
        { errors: ErrorPolicy.retryAll(3) },
      ),
    truth: { status: 'failed', rule: policy, reason: ['You exceeded your quota', '3600 s', '60 s'], step: 1 },
  },
  {
    name: 'a conversation that is too long for the model',
    stage: () =>
      stageProvider(
        {
          type: 'status',
          status: 400,
          body: { type: 'error', error: { type: 'invalid_request_error', message: 'prompt is too long: 205000 tokens > 200000 maximum' } },
        },
        { provider: 'anthropic' },
      ),
    truth: { status: 'failed', rule: policy, reason: ['prompt is too long', '205000', '200000'], step: 1 },
  },
  {
    name: 'a provider that answers with a web page',
    stage: () => stageProvider({ type: 'status', status: 502, body: `<html><h1>Bad Gateway</h1>${poison}</html>` }),
    truth: { status: 'failed', rule: policy, reason: [/502|Bad Gateway/], step: 1 },
  },
  {
    name: 'a stream that ends early',
    stage: () => stageProvider({ type: 'ends-early' }),
    truth: { status: 'failed', rule: policy, reason: [/ended|interrupted|broke off|cut off|before/i], step: 1 },
  },
  {
    name: 'a connection that is reset',
    stage: () => stageProvider({ type: 'reset' }),
    truth: { status: 'failed', rule: policy, reason: [/connect|socket|reset|fetch/i], step: 1 },
  },
];
