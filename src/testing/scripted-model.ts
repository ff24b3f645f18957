import type { Failure } from '../errors/index.ts';
import { classifyError, isErrorType } from '../errors/index.ts';
import type { Model, ModelDelta, ModelOutcome, ModelRequest, ReportedUsage, ResponseBuilder } from '../inference/index.ts';
import { createResponseBuilder } from '../inference/index.ts';
import type { IdSource, Json } from '../lib/index.ts';
import { assertNever, checkKeys, createCountingIds, describeValue, InvalidArgumentError, isRecord, pluralize } from '../lib/index.ts';

/** A call that a scripted model makes. */
export interface ScriptedToolCall {
  readonly name: string;
  /** A text stands for itself, as the model wrote it: for JSON that is broken. @default {} */
  readonly args?: Json;
  /** @default a counting id */
  readonly id?: string;
}

/** One answer of a scripted model. */
export interface ScriptedAnswer {
  readonly text?: string;
  readonly reasoning?: string;
  readonly toolCalls?: readonly ScriptedToolCall[];
  /** Error after all that: a Failure, or anything that can be thrown. */
  readonly error?: unknown;
  /** If left out, the usage is unknown, as with a provider that does not report it. */
  readonly usage?: ReportedUsage;
  /** The provider's word; `interrupted` breaks the answer off. @default 'tool_calls' with calls, else 'stop' */
  readonly finishReason?: string | null;
  /** Pieces that come before the rest, as the script's own pace has it; a text stands for a piece of text. */
  readonly chunks?: Iterable<ModelDelta | string> | AsyncIterable<ModelDelta | string>;
}

/** An answer or plain text, or a function that returns one. A promise that never settles is a model that hangs until its signal fires. */
export type ScriptedEntry =
  string | ScriptedAnswer | ((request: ModelRequest) => string | ScriptedAnswer | Promise<string | ScriptedAnswer>);

/** Options of a scripted model besides its script. */
export interface ScriptedModelOptions {
  /** @default 'scripted' */
  readonly provider?: string;
  /** @default 'script' */
  readonly modelId?: string;
  /** Answers with the last entry once the script is used up, instead of failing. @default false */
  readonly repeatLast?: boolean;
  /** Names the calls that have no id. @default call-1, call-2, … */
  readonly ids?: IdSource;
}

/** A model that plays a script. */
export interface ScriptedModel extends Model {
  /** The requests so far, oldest first. */
  readonly calls: readonly ModelRequest[];
}

function toFailure(error: unknown): Failure {
  const isFailure = (value: unknown): value is Failure =>
    isRecord(value) && isErrorType(value['type']) && typeof value['message'] === 'string' && typeof value['retryable'] === 'boolean';
  return isFailure(error) && !(error instanceof Error) ? error : classifyError(error, { fallback: 'model' });
}

function take(builder: ResponseBuilder, chunk: ModelDelta | string, begun: Set<string>): void {
  if (typeof chunk === 'string') {
    builder.text(chunk);
    return;
  }
  switch (chunk.type) {
    case 'text':
    case 'reasoning':
      builder[chunk.type](chunk.text);
      return;
    case 'tool-input':
      if (!begun.has(chunk.toolCallId)) builder.toolInputStart(chunk.toolCallId, chunk.toolName);
      begun.add(chunk.toolCallId);
      builder.toolInputDelta(chunk.toolCallId, chunk.text);
      return;
    case 'restart':
      return;
    default:
      assertNever(chunk);
  }
}

interface Playback {
  readonly builder: ResponseBuilder;
  readonly ids: IdSource;
  readonly signal: AbortSignal | undefined;
}

async function play(answer: ScriptedAnswer, { builder, ids, signal }: Playback): Promise<void> {
  const { text, reasoning, toolCalls = [], usage, chunks = [], finishReason } = answer;
  const begun = new Set<string>();
  for await (const chunk of chunks) {
    if (signal?.aborted === true) return;
    take(builder, chunk, begun);
  }
  if (signal?.aborted === true) return;
  if (reasoning !== undefined) builder.reasoning(reasoning);
  if (text !== undefined) builder.text(text);
  for (const { name, args = {}, id = ids() } of toolCalls) builder.toolCall({ name, input: args, id });
  if (usage !== undefined) builder.usage(usage);
  if ('error' in answer) builder.error(toFailure(answer.error));
  builder.finish(finishReason === undefined ? (toolCalls.length + begun.size > 0 ? 'tool_calls' : 'stop') : finishReason);
}

const answerKeys = ['text', 'reasoning', 'toolCalls', 'error', 'usage', 'finishReason', 'chunks'];

/** Refuses an answer that could not be played. Text stands for an answer that says it. */
function parseAnswer(given: unknown, number: number): ScriptedAnswer {
  if (typeof given === 'string') return { text: given };
  const place = `nswer ${number} of scriptedModel()`;
  if (!isRecord(given)) throw new InvalidArgumentError(`A${place} must be a string, an object or a function, not ${describeValue(given)}.`);
  checkKeys(`a${place}`, given, answerKeys);
  return given;
}

function checkScript(script: unknown): void {
  const hint = typeof script === 'string' ? ' Put the string in a list.' : '';
  if (!Array.isArray(script))
    throw new InvalidArgumentError(`scriptedModel() needs a list of answers, not ${describeValue(script)}.${hint}`);
  for (const [index, entry] of script.entries()) if (typeof entry !== 'function') parseAnswer(entry, index + 1);
}

const toUsedUpAnswer = (entries: number): ScriptedAnswer => ({
  error: {
    type: 'model',
    code: 'script-used-up',
    message: `The script has ${pluralize(entries, 'answer')}, but the model was called once more. Add an answer, or pass { repeatLast: true }.`,
    retryable: false,
  },
});

/** Resolves when the work is done or the signal fires. */
function waitUnlessAborted(work: Promise<void>, signal: AbortSignal | undefined): Promise<void> {
  return new Promise((resolve) => {
    const stop = (): void => {
      signal?.removeEventListener('abort', stop);
      resolve();
    };
    signal?.addEventListener('abort', stop);
    void work.then(stop);
  });
}

/** A model that answers from a script, through the same code as real ones. Every call takes the next entry. */
export function scriptedModel(script: readonly ScriptedEntry[], options: ScriptedModelOptions = {}): ScriptedModel {
  const { provider = 'scripted', modelId = 'script', repeatLast = false, ids = createCountingIds('call') } = options;
  checkScript(script);
  checkKeys('scriptedModel()', options, ['provider', 'modelId', 'repeatLast', 'ids']);
  const calls: ModelRequest[] = [];
  let next = 0;

  const ask = async (request: ModelRequest, onDelta?: (delta: ModelDelta) => void): Promise<ModelOutcome> => {
    const { signal } = request;
    const builder = createResponseBuilder({ ids, model: `${provider}/${modelId}`, request, ...(onDelta !== undefined && { onDelta }) });
    const perform = async (): Promise<void> => {
      try {
        next += 1;
        const number = repeatLast ? Math.min(next, script.length) : next;
        const entry = script[number - 1] ?? toUsedUpAnswer(script.length);
        const answer = typeof entry === 'function' ? await entry(request) : entry;
        await play(parseAnswer(answer, number), { builder, ids, signal });
      } catch (error) {
        builder.error(toFailure(error));
      }
    };
    calls.push(request);
    if (signal?.aborted !== true) await waitUnlessAborted(perform(), signal);
    return builder.outcome({ aborted: signal?.aborted === true });
  };
  return { provider, modelId, calls, generate: (request) => ask(request), stream: ask };
}
