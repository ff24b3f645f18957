// Random states of agents: long texts, odd characters, results without calls and calls without results, steps that wait.
import fc from 'fast-check';
import { AgentState } from '../../src/agent/index.ts';
import { ContinuationOutcome } from '../../src/continuation/index.ts';
import type { Json } from '../../src/lib/index.ts';
import { AppendOnlyList, cleanText, createFakeClock } from '../../src/lib/index.ts';
import type { Part, ToolOutput } from '../../src/messages/index.ts';
import { Message, MessageRole, toolCallPart, toolResultPart, Usage } from '../../src/messages/index.ts';
import type { PendingStep } from '../../src/step-by-step/index.ts';
import { StepResult } from '../../src/step-by-step/index.ts';
import type { ToolUseStep } from '../../src/tool-use/index.ts';

export const secret = ['sk', 'proj-abcdefghijklmnop1234'].join('-');
/** An argument and a result that can be looked for. */
export const plantedArgs = 'planted-argument';
export const plantedResult = 'planted-result';

const secretPieces = [` ${secret} `, `{"password":"${secret}"}`];
const oddPieces = ['\ud800', '\udc00', '\0'];

/** States in which nothing has to be removed, or states with secrets and half characters in every text. */
export function randomStates(contents: 'plain' | 'with secrets'): fc.Arbitrary<AgentState> {
  const isPlain = contents === 'plain';
  const text = isPlain ? fc.string({ unit: 'grapheme', maxLength: 8 }) : fc.string({ unit: 'binary', maxLength: 8 });
  const piece = fc.oneof(
    fc.string({ maxLength: 8 }),
    text,
    fc.constantFrom('😀', 'x'.repeat(60), ...(isPlain ? [] : [...secretPieces, ...oddPieces])),
  );
  // Two names that differ only in broken characters are refused.
  const name = fc.constantFrom(...(isPlain ? ['_a', 'type', '-'] : ['token', ` ${secret} `, 'api_key']));
  const words = fc.array(piece, { maxLength: 4 }).map((pieces) => pieces.join(''));
  const json = fc.letrec<{ value: Json }>((tie) => ({
    value: fc.oneof(
      { depthSize: 'small', withCrossShrink: true },
      words,
      fc.double(),
      fc.constantFrom(null, true, -0, NaN),
      fc.array(tie('value'), { maxLength: 3 }),
      fc.dictionary(fc.oneof(words, fc.oneof(name, fc.constant('__proto__'))).map(cleanText), tie('value'), { maxKeys: 3 }),
    ),
  })).value;
  const fields = fc.dictionary(fc.oneof(fc.string({ maxLength: 4 }), name).map(cleanText), json, { maxKeys: 3 });
  const args = fc.oneof(json, fc.constant({ q: plantedArgs }));
  const callId = fc.constantFrom('1', '2', '3', '4');
  const output: fc.Arbitrary<ToolOutput> = fc.oneof(
    fc.constantFrom<ToolOutput>({ type: 'text', value: plantedResult }, { type: 'json', value: [plantedResult] }),
    words.map((value) => ({ type: 'text', value }) as const),
    json.map((value) => ({ type: 'json', value }) as const),
    words.map((value) => ({ type: 'error', value }) as const),
    words.map((reason) => ({ type: 'rejected', reason }) as const),
  );
  const messagePart: fc.Arbitrary<Part> = fc.oneof(
    words.map((text) => ({ type: 'text', text }) as const),
    words.map((text) => ({ type: 'reasoning', text }) as const),
    fc.record({ id: callId, args }).map(({ id, args }) => toolCallPart({ id, name: 'work', args })),
    fc
      .record({ id: callId, rawArgs: fc.oneof(words, fc.constant(`{${plantedArgs}`)) })
      .map(({ id, rawArgs }) => toolCallPart({ id, name: 'work', args: null, rawArgs })),
    fc.record({ id: callId, output }).map((given) => toolResultPart({ toolCallId: given.id, toolName: 'work', output: given.output })),
    words.map((data) => ({ type: 'image', data }) as const),
    words.map((filename) => ({ type: 'file', id: filename, mediaType: 'text/plain', filename }) as const),
    fc.record({ url: words, title: words }).map((given) => ({ type: 'source', sourceType: 'url', id: 's', ...given }) as const),
  );
  const message = fc
    .record({
      role: fc.constantFrom(...Object.values(MessageRole)),
      parts: fc.array(messagePart, { maxLength: 3 }),
      purpose: fc.constantFrom('observation', 'action', 'undecided', undefined),
      metadata: fields,
    })
    .map(({ role, parts, purpose, metadata }) =>
      Message.of(role, parts, { metadata: { ...metadata, ...(purpose !== undefined && { purpose }) } }),
    );
  const call = fc.record({ id: callId, name: fc.oneof(fc.constant('work'), name), args });
  const step: fc.Arbitrary<ToolUseStep> = fc
    .record({ outputMessages: fc.array(message, { maxLength: 2 }), toolCalls: fc.array(call, { maxLength: 2 }), failure: words })
    .map(({ outputMessages, toolCalls, failure }) => ({
      id: 's',
      outputMessages,
      usage: Usage.of({ input: 1, output: 2 }),
      errors: [{ type: 'tool', code: 'broken', message: failure, retryable: false }],
      stepType: 'error',
      toolCalls,
      executions: [],
      finishReason: failure,
    }));
  const timing = { startedAt: 0, endedAt: 9, activeMs: 5, waitedMs: 1 };
  const outcome = words.map((reason) =>
    ContinuationOutcome.fromEvaluations([{ criterion: 'Mine', decision: 'forbid', reason, context: { [reason]: reason } }]),
  );
  const gated = fc.record({ args, type: fc.constantFrom('approval' as const, 'client-tool' as const), problem: fc.option(words) });
  // The calls that wait are in the last message of their step.
  const pending = (number: number) =>
    fc
      .record({ taken: step, asked: fc.array(gated, { minLength: 1, maxLength: 3 }), prompt: words })
      .map(({ taken, asked, prompt }): PendingStep<ToolUseStep> => {
        const calls = asked.map((each, index) => ({ id: `w${String(index)}`, name: 'work', args: each.args }));
        const waits = asked.map(({ type, problem, args }, index) => ({
          ...{ type, id: `w${String(index)}`, toolName: 'work', args },
          ...(problem !== null && { problem }),
        }));
        return {
          number,
          partial: {
            ...taken,
            outputMessages: [...taken.outputMessages, Message.assistant(calls.map((each) => toolCallPart(each)))],
            toolCalls: [...taken.toolCalls, ...calls],
          },
          waits: isPlain ? waits : [...waits, { type: 'person', id: 'p', prompt }],
          answers: [],
          startedAt: 0,
          parkedAt: 1,
          activeMs: 1,
          waitedMs: 0,
        };
      });
  const clock = createFakeClock();
  return fc
    .record({
      messages: fc.array(message, { maxLength: 12 }),
      queued: fc.array(message, { maxLength: 2 }),
      steps: fc.array(fc.record({ step, outcome }), { maxLength: 5 }),
      metadata: fields,
      agentId: words,
      ending: fc.constantFrom('recorded', 'judged', 'waiting'),
    })
    .chain((given) => fc.record({ given: fc.constant(given), pending: pending(given.steps.length + 1), candidate: step }))
    .map(({ given, pending: pendingStep, candidate }) => {
      const { data } = AgentState.empty({ clock, agentId: given.agentId, metadata: given.metadata }).withMessages(given.messages);
      const results = AppendOnlyList.from(
        given.steps.map((taken, index) => new StepResult(taken.step, taken.outcome, { number: index + 1, timing })),
      );
      const ending =
        given.ending === 'waiting' ? { pendingStep, queued: given.queued } : given.ending === 'judged' ? { judgedStep: candidate } : {};
      return new AgentState({ ...data, execution: { ...data.execution, id: 'e', results, ...ending } });
    });
}
