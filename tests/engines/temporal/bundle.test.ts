// npm has no Temporal server, so no workflow runs here. The test bundles the agent as a worker would, and runs the bundle with only the
// globals of a workflow.
import { fileURLToPath } from 'node:url';
import { createContext, runInContext } from 'node:vm';
import { bundleWorkflowCode } from '@temporalio/worker';
import { expect, test } from 'vitest';
import type { ModelOutcome } from '../../../src/entry/inference.ts';
import { Usage } from '../../../src/entry/index.ts';

const find = (path: string): string => fileURLToPath(new URL(path, import.meta.url));

/** Bundles the workflows with the sources of the package instead of the built package. */
async function bundle(): Promise<{ readonly code: string; readonly warnings: readonly string[] }> {
  const warnings: string[] = [];
  const note = (message: string): void => void warnings.push(message);
  const ignore = (): void => undefined;
  const logger = { log: ignore, trace: ignore, debug: ignore, info: ignore, warn: note, error: note };
  const { code } = await bundleWorkflowCode({
    workflowsPath: find('workflows.ts'),
    logger,
    webpackConfigHook: (config) => ({
      ...config,
      resolve: { ...config.resolve, alias: { ...config.resolve?.alias, stepline$: find('../../../src/entry/index.ts') } },
    }),
  });
  return { code, warnings };
}

/** The globals that Temporal adds to those of the language, with stand-ins for the clock and randomness of a workflow. */
const createWorkflowContext = () =>
  createContext({
    ...{ URL, URLSearchParams, TextEncoder, TextDecoder, AbortController, console },
    __webpack_module_cache__: {},
    __TEMPORAL_ACTIVATOR__: { now: 1_000_000, random: () => 0.5 },
  });

interface Workflows {
  mailWith(task: string, given: object): Promise<{ readonly text: string }>;
}

const usage = Usage.of({ input: 1, output: 1 });

/** Four parallel calls, then an answer. */
function answer({ messages }: { readonly messages: readonly { readonly role: string }[] }): ModelOutcome {
  if (messages.some(({ role }) => role === 'assistant'))
    return { ok: true, response: { parts: [{ type: 'text', text: 'Sent.' }], usage, finishReason: 'stop' } };
  const calls = [1, 2, 3, 4].map((index) => ({
    type: 'tool-call' as const,
    toolCallId: `c-${index}`,
    toolName: 'send_mail',
    args: { to: `p${index}` },
  }));
  return { ok: true, response: { parts: calls, usage, finishReason: 'tool_calls' } };
}

test('an agent can be bundled for a Temporal workflow and runs with its globals only', async () => {
  const { code, warnings } = await bundle();
  expect(warnings).toStrictEqual([]);
  const context = createWorkflowContext();
  runInContext(code, context);
  const found: unknown = runInContext('__TEMPORAL__.importWorkflows()', context);
  // Holds: the bundle has these workflows.
  const workflows = found as Workflows;
  const sent: string[] = [];
  let count = 0;
  const { text } = await workflows.mailWith('Write to all four.', {
    askModel: async (request: Parameters<typeof answer>[0]) => JSON.parse(JSON.stringify(answer(request))) as unknown,
    sendMail: async ({ to, idempotencyKey }: { readonly to: string; readonly idempotencyKey: string }) => {
      sent.push(`${to} ${idempotencyKey}`);
      return 'ok';
    },
    ids: () => `id-${(count += 1)}`,
  });
  expect(text).toBe('Sent.');
  expect(new Set(sent).size).toBe(4);
});
