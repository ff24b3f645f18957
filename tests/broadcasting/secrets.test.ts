import { describe, expect, it } from 'vitest';
import { AgentConsoleLogger, AgentEventEnvelopeAdapter, createEnvelopeMapper } from '../../src/broadcasting/index.ts';
import { createAgent, defineHook, defineTool } from '../../src/entry/index.ts';
import { createMemoryPlace, createSessionRuntime } from '../../src/sessions/index.ts';
import { scriptedModel } from '../../src/testing/index.ts';
import { ann, readEvents } from '../sessions/stage.ts';
import { createKeepingTransport } from '../support/envelopes.ts';

// Each has letters that no other text here has.
const secrets = {
  argument: 'QQargumentQQ11',
  key: 'sk-QQkeyQQabcdefghijklmnop',
  result: 'QQresultQQ22',
  message: 'QQmessageQQ33',
  url: 'QQurlQQ44',
  header: 'QQheaderQQ55abcdef',
  cause: 'sk-QQcauseQQabcdefghijklmnop',
  metadata: 'QQmetadataQQ66',
  hook: 'sk-QQhookQQabcdefghijklmnop',
  model: 'sk-QQmodelQQabcdefghijklmnop',
  sent: 'sk-QQsentQQabcdefghijklmnop',
};

function createLeakyAgent() {
  const input = { type: 'object', properties: {}, additionalProperties: true } as const;
  const login = defineTool({
    name: 'login',
    description: 'Logs in.',
    input,
    run: (_args, { report }) => {
      report({ token: secrets.result, note: `Bearer ${secrets.header}` });
      return { session: { access_token: secrets.result }, echo: `api_key=${secrets.url}` };
    },
  });
  const fetchPage = defineTool({
    name: 'fetch_page',
    description: 'Fetches.',
    input,
    run: () => {
      throw new Error(
        `401 for https://ann:${secrets.message}@host/x?api_key=${secrets.url}, Authorization: Bearer ${secrets.header}, body {"password":"${secrets.metadata}"}`,
        { cause: new Error(`inner ${secrets.cause}`) },
      );
    },
  });
  const model = scriptedModel([
    {
      chunks: [{ type: 'reasoning', text: `I know ${secrets.model}` }],
      text: `Using ${secrets.model}`,
      toolCalls: [
        { name: 'login', args: { password: secrets.argument, headers: { authorization: `Bearer ${secrets.header}` }, note: secrets.key } },
        { name: 'fetch_page', args: { url: `https://ann:${secrets.message}@host/?token=${secrets.url}` } },
      ],
    },
    {
      error: {
        type: 'model',
        code: 'bad-request',
        message: `400 from https://host/?api_key=${secrets.url} with ${secrets.model}`,
        retryable: false,
      },
    },
  ]);
  const hook = defineHook({
    name: 'noter',
    changes: ['metadata'],
    beforeStep: ({ report }) => {
      report(`saw ${secrets.hook}`, { secret: secrets.metadata });
      return { metadata: { password: secrets.metadata } };
    },
  });
  return createAgent({ id: 'leaky', model, tools: [login, fetchPage], hooks: [hook] });
}

describe('secrets', () => {
  it.each(['minimal', 'standard', 'debug'] as const)(
    'appear in no envelope and in no line of the log, live or stored, with %s',
    async (preset) => {
      const transport = createKeepingTransport();
      const lines: string[] = [];
      const adapter = new AgentEventEnvelopeAdapter(transport, { preset });
      const logger = new AgentConsoleLogger({ level: 'debug', print: (line) => lines.push(line) });
      const agent = createLeakyAgent();
      agent.wiretap(logger.log);
      const runtime = createSessionRuntime({
        agents: [agent],
        store: createMemoryPlace().open(),
        onEvent: adapter.broadcast,
        onProblem: () => undefined,
      });
      await runtime.create({ id: 'one' }, { by: ann });
      await runtime.send('one', `My key is ${secrets.sent}`, { by: ann });
      await runtime.drain();
      const events = await readEvents(runtime, 'one');
      const mapper = createEnvelopeMapper({ preset });
      const stored = events.flatMap((event) => mapper.toEnvelopes(event));
      const everything = JSON.stringify([transport.all(), stored, lines]);
      expect(lines.length).toBeGreaterThan(10);
      expect(stored.length).toBeGreaterThan(8);
      for (const secret of Object.values(secrets)) expect(everything).not.toContain(secret);
      expect(everything).not.toMatch(/QQ/);
      expect(everything).not.toMatch(/ {4}at .*\.ts:\d+/);
      // They were there to be found.
      expect(JSON.stringify(events)).toContain(secrets.argument);
      adapter.close();
    },
  );
});
