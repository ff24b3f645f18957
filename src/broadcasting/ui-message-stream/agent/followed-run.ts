// One run of an agent, read step by step by the AI SDK's own loop.
// Owns:     the run, how far it was read, and the ends of its calls.
// Does not: decide anything: the run goes on at its own pace, and the AI SDK's loop follows it.
// L1. Each step with calls is one answer of a model to the AI SDK; steps without calls belong to the one that follows.
// L2. The AI SDK "runs" a call by waiting for its end here. No tool runs twice.
// L3. A call that needs an approval is never started: the AI SDK asks for it, and ends.
import type { LanguageModelV4CallOptions, LanguageModelV4StreamPart } from '@ai-sdk/provider';
import type { Agent } from '../../../agent/index.ts';
import type { Json } from '../../../lib/index.ts';
import { Usage } from '../../../messages/index.ts';
import { isRecord } from '../../../lib/index.ts';
import type { Run, RunResult } from '../../../step-by-step/index.ts';
import { fromModelMessages } from '../convert/from-model-messages.ts';
import type { EventFields } from '../event-fields.ts';
import { getJson, getName, isRoot } from '../event-fields.ts';
import { toFinishReason } from '../finish-reason.ts';
import { toOutcome } from '../outcome.ts';
import { AgentRunFailedError } from './agent-run-failed-error.ts';
import { toLanguageModelUsage } from './language-model-usage.ts';
import { PartWriter } from './part-writer.ts';

type StreamPart = LanguageModelV4StreamPart;

/** The end of a call. */
interface CallEnd {
  readonly promise: Promise<Json>;
  readonly settle: (event: EventFields) => void;
  readonly fail: (error: Error) => void;
}

function createCallEnd(): CallEnd {
  let resolve: (value: Json) => void = () => undefined;
  let reject: (error: Error) => void = () => undefined;
  const promise = new Promise<Json>((...settlers) => {
    [resolve, reject] = settlers;
  });
  // Nobody has to wait for it.
  promise.catch(() => undefined);
  return {
    promise,
    settle: (event) =>
      event['status'] === 'succeeded'
        ? resolve(getJson(event, 'result'))
        : reject(new AgentRunFailedError(getName(event, 'error') || 'The call failed.')),
    fail: (error) => reject(error),
  };
}

/** Waits that the AI SDK can ask a page about. */
const answerable = ['approval', 'client-tool'];

export class FollowedRun {
  readonly #agent: Agent;
  readonly #context: unknown;
  readonly #calls = new Map<string, CallEnd>();
  readonly #waiting = new Set<string>();
  #run: Run | undefined;
  #events: AsyncIterator<object> | undefined;

  constructor(agent: Agent, context: unknown) {
    this.#agent = agent;
    this.#context = context;
  }

  /** True if a call of this run needs an approval. */
  isWaiting(toolCallId: string): boolean {
    return this.#waiting.has(toolCallId);
  }

  /** Returns the end of a call; undefined if it does not belong to this run. */
  findCall(toolCallId: string): Promise<Json> | undefined {
    return this.#calls.get(toolCallId)?.promise;
  }

  /** Reads the next step as the answer of a model. */
  async *readStep(options: LanguageModelV4CallOptions): AsyncGenerator<StreamPart, void, undefined> {
    const events = (this.#events ??= this.#start(options));
    const writer = new PartWriter();
    let usage = Usage.none();
    yield { type: 'stream-start', warnings: [] };
    for (;;) {
      const next = await events.next();
      if (next.done === true) return;
      // Holds: any object may be read as fields that are unknown.
      const event = next.value as EventFields;
      if (!isRoot(event)) continue;
      yield* this.#note(event, writer);
      // Holds: the event has the usage of its step.
      if (event['type'] === 'AgentStepCompleted' && isRecord(event['usage'])) usage = Usage.add(usage, event['usage'] as unknown as Usage);
      if (event['type'] === 'AgentFinished') {
        yield* this.#finish(event, writer, usage);
        return;
      }
      if (event['type'] === 'AgentStepCompleted' && writer.hasCalls) {
        yield* writer.close();
        yield { type: 'finish', finishReason: { unified: 'tool-calls', raw: 'tool-calls' }, usage: toLanguageModelUsage(usage) };
        return;
      }
    }
  }

  #start({ prompt, abortSignal }: LanguageModelV4CallOptions): AsyncIterator<object> {
    const messages = fromModelMessages(prompt);
    const last = messages.at(-1);
    const empty = this.#agent.states.empty();
    const state = last?.isUser() === true ? empty.withMessages(messages.slice(0, -1)).withUserMessage(last) : empty.withMessages(messages);
    this.#run = this.#agent.start(state, { context: this.#context, signal: abortSignal });
    return this.#run[Symbol.asyncIterator]();
  }

  *#note(event: EventFields, writer: PartWriter): Generator<StreamPart, void, undefined> {
    const id = getName(event, 'toolCallId');
    if (event['type'] === 'ToolApprovalRequested') this.#waiting.add(id);
    // Known before the AI SDK hears of the call.
    if (id !== '' && !this.#calls.has(id) && getName(event, 'waitId') === '') this.#calls.set(id, createCallEnd());
    yield* writer.take(event);
    if (event['type'] === 'ToolCallCompleted') this.#calls.get(id)?.settle(event);
  }

  async *#finish(event: EventFields, writer: PartWriter, usage: Usage): AsyncGenerator<StreamPart, void, undefined> {
    const result: RunResult | undefined = await this.#run?.result;
    const outcome = toOutcome(event, result?.explain() ?? '');
    const waits = outcome.waitingFor ?? [];
    const problem = new AgentRunFailedError(outcome.why);
    for (const call of this.#calls.values()) call.fail(problem);
    yield* writer.close();
    const isStuck = outcome.status === 'waiting' && !waits.every(({ type }) => answerable.includes(type));
    if (outcome.status === 'failed' || isStuck) yield { type: 'error', error: problem };
    const { status, stopReason = null, why } = outcome;
    yield {
      type: 'finish',
      finishReason: { unified: toFinishReason(outcome), raw: stopReason ?? status },
      usage: toLanguageModelUsage(usage),
      providerMetadata: { stepline: { status, stopReason, why } },
    };
  }
}
