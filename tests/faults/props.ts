// Tools and answers that many faults need.
import type { Tool } from '../../src/entry/index.ts';
import { defineTool } from '../../src/entry/index.ts';
import type { ScriptedAnswer, ScriptedToolCall } from '../../src/entry/testing.ts';

export const usage = { input: 40, output: 20 };

export const anyInput = { type: 'object', properties: {} } as const;

/** A tool without arguments of its own. */
export const createTool = (
  name: string,
  run: () => unknown,
  more: { readonly needsApproval?: boolean; readonly timeoutMs?: number } = {},
): Tool => defineTool({ name, description: `Does ${name}.`, input: anyInput, run, ...more });

/** A tool that always throws. */
export const createBrokenTool = (name: string, error: unknown): Tool =>
  createTool(name, () => {
    throw error;
  });

/** A tool that never ends by itself. */
export const createHangingTool = (name: string): Tool => createTool(name, () => new Promise(() => undefined));

/** An answer that calls tools. */
export const call = (...calls: readonly (string | ScriptedToolCall)[]): ScriptedAnswer => ({
  toolCalls: calls.map((each) => (typeof each === 'string' ? { name: each } : each)),
  usage,
});

export const say = (text: string): ScriptedAnswer => ({ text, usage });
export const fail = (error: unknown): ScriptedAnswer => ({ error, usage });
