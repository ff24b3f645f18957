import type { Failure } from '../errors/index.ts';
import { classifyError } from '../errors/index.ts';
import type { Clock, Json, Soon } from '../lib/index.ts';
import { jsonCopy, systemClock, toCanonical } from '../lib/index.ts';
import type { ToolCall } from '../messages/index.ts';
import { jsonProblem } from './json-problem.ts';
import type { Parsed } from './schema-issue.ts';
import { issuesText } from './schema-issue.ts';
import type { ClientTool, FunctionTool, NestedTool, Tool } from './tool.ts';
import type { ToolExecution } from './tool-execution.ts';
import { cancelledExecution, failedExecution } from './tool-execution.ts';
import { unknownToolText } from './tool-name.ts';
import type { ToolSet } from './tool-set.ts';

/** A call that may run: its arguments fit, and nobody has to be asked. */
export interface ReadyCall {
  readonly type: 'ready';
  /** The call, with its arguments in their stored form. */
  readonly call: ToolCall;
  readonly tool: FunctionTool;
  /** What the schema made of the arguments; goes to `run`, and is never stored. */
  readonly parsed: unknown;
}

/** A call whose work is a run of its own: its arguments fit. */
export interface NestedCall {
  readonly type: 'nested';
  readonly call: ToolCall;
  readonly tool: NestedTool;
  readonly parsed: unknown;
}

/** What is to be done about a call. */
export type PreparedCall =
  | ReadyCall
  /** A person must agree first. */
  | {
      readonly type: 'needs-approval';
      readonly call: ToolCall;
      readonly tool: Tool | undefined;
      /** Why an agreement that was given does not do. */
      readonly problem?: string;
    }
  /** Somebody outside carries it out. */
  | { readonly type: 'client-tool'; readonly call: ToolCall; readonly tool: ClientTool }
  /** Its work is a run of its own. */
  | NestedCall
  /** The provider carries it out, and gives the result itself. */
  | { readonly type: 'provider'; readonly call: ToolCall }
  /** It cannot run; the execution tells the model why. */
  | { readonly type: 'ended'; readonly call: ToolCall; readonly execution: ToolExecution };

/** What a call is prepared with. */
export interface PrepareOptions<Context> {
  readonly context: Context;
  readonly state?: unknown;
  /** True where a person has agreed already. @default false */
  readonly approved?: boolean;
  /** Ends a check that hangs. */
  readonly signal?: AbortSignal;
  /** @default systemClock */
  readonly clock?: Clock;
}

type Refusal = Pick<Failure, 'code' | 'message'>;
type Read<Value> = { readonly ok: true; readonly value: Value } | { readonly ok: false; readonly refusal: Refusal };

const refuse = (code: string, message: string): { readonly ok: false; readonly refusal: Refusal } => ({
  ok: false,
  refusal: { code, message },
});

function readArgs({ args, rawArgs, name }: ToolCall): Read<Json> {
  if (rawArgs !== undefined) {
    // Where no arguments are wanted the model sends none; text that is kept as unreadable and empty was cut off.
    if (rawArgs.trim() === '') {
      return refuse('invalid-json', `The arguments of "${name}" never came: the answer was cut off. Call it again with its arguments.`);
    }
    const problem = jsonProblem(rawArgs);
    if (problem !== undefined)
      return refuse('invalid-json', `The arguments of "${name}" are not valid JSON, ${problem}. Call it again with valid JSON.`);
  }
  const canonical = toCanonical(rawArgs === undefined ? args : JSON.parse(rawArgs));
  if (canonical.ok) return canonical;
  return refuse(
    'invalid-arguments',
    `The arguments of "${name}" cannot be used: ${canonical.path === '' ? 'the whole' : canonical.path} ${canonical.problem}.`,
  );
}

/** Goes on with a value when it is there; what is thrown on the way, now or later, becomes a value too. */
function follow<Value, Next>(begin: () => Soon<Value>, next: (value: Value) => Next, failed: (error: unknown) => Next): Soon<Next> {
  try {
    const value = begin();
    return value instanceof Promise ? value.then(next).catch(failed) : next(value);
  } catch (error) {
    return failed(error);
  }
}

function parseArgs({ input, name }: FunctionTool | ClientTool | NestedTool, args: Json): Soon<Read<unknown>> {
  return follow<Parsed<unknown>, Read<unknown>>(
    () => input.parse(args),
    (parsed) => (parsed.ok ? parsed : refuse('invalid-arguments', `The arguments of "${name}" do not fit: ${issuesText(parsed.issues)}.`)),
    (error) => refuse('invalid-arguments', `The arguments of "${name}" could not be checked: ${classifyError(error).message}`),
  );
}

function asksApproval<Context>(
  tool: FunctionTool,
  { id, parsed }: { readonly id: string; readonly parsed: unknown },
  options: PrepareOptions<Context>,
): Soon<Read<boolean>> {
  const { needsApproval, name } = tool;
  if (options.approved === true || typeof needsApproval === 'boolean')
    return { ok: true, value: options.approved !== true && needsApproval === true };
  const { context, state } = options;
  return follow<unknown, Read<boolean>>(
    // Holds: the arguments were parsed by this tool's schema, and the set says which context its tools need.
    () => needsApproval(parsed as never, { context: context as never, toolCallId: id, state }),
    // A gate that gives no clear answer stays shut.
    (answer) => ({ ok: true, value: answer !== false }),
    (error) => refuse('approval-check-failed', `Whether "${name}" may run could not be found out: ${classifyError(error).message}`),
  );
}

function gated<Context>(
  tool: FunctionTool | ClientTool | NestedTool,
  { call, parsed }: { readonly call: ToolCall; readonly parsed: unknown },
  options: PrepareOptions<Context>,
): Soon<PreparedCall | Refusal> {
  if (tool.type === 'client') return { type: 'client-tool', call, tool };
  if (tool.type === 'nested') return { type: 'nested', call, tool, parsed };
  // Most tools are never gated.
  if (tool.needsApproval === false) return { type: 'ready', call, tool, parsed };
  const settle = (asks: Read<boolean>): PreparedCall | Refusal => {
    if (!asks.ok) return asks.refusal;
    return asks.value ? { type: 'needs-approval', call, tool } : { type: 'ready', call, tool, parsed };
  };
  const asks = asksApproval(tool, { id: call.id, parsed }, options);
  return asks instanceof Promise ? asks.then(settle) : settle(asks);
}

function prepare<Context>(set: ToolSet<Context>, call: ToolCall, options: PrepareOptions<Context>): Soon<PreparedCall | Refusal> {
  if (call.providerExecuted === true) return { type: 'provider', call };
  const tool = set.get(call.name);
  if (tool === undefined) return { code: 'unknown-tool', message: unknownToolText(call.name, set.names) };
  if (tool.type === 'provider')
    return { code: 'provider-tool', message: `"${call.name}" is carried out by the provider; it cannot be run here.` };
  const args = readArgs(call);
  if (!args.ok) return args.refusal;
  const known = call.rawArgs === undefined && args.value === call.args ? call : withArgs(call, args.value);
  // A copy: what a tool does with its arguments must not change what was said.
  const parsed = parseArgs(tool, jsonCopy(args.value));
  if (parsed instanceof Promise) {
    return parsed.then((read) => (read.ok ? gated(tool, { call: known, parsed: read.value }, options) : read.refusal));
  }
  return parsed.ok ? gated(tool, { call: known, parsed: parsed.value }, options) : parsed.refusal;
}

const aborted: unique symbol = Symbol('aborted');

// A check of the host's own may hang; an interruption does not wait for it.
async function untilAborted<Value>(signal: AbortSignal | undefined, work: Promise<Value>): Promise<Value | typeof aborted> {
  if (signal === undefined) return work;
  let leave: (() => void) | undefined;
  const interruption = new Promise<typeof aborted>((resolve) => {
    const stop = (): void => resolve(aborted);
    signal.addEventListener('abort', stop, { once: true });
    leave = () => signal.removeEventListener('abort', stop);
  });
  return Promise.race([work, interruption]).finally(() => leave?.());
}

/** The same call with other arguments, as after a person edited them. */
export function withArgs({ rawArgs: _, ...call }: ToolCall, args: Json): ToolCall {
  return { ...call, args };
}

/** The same as prepareCall, at once where nobody has to be waited for. */
export function prepareSoon<Context>(set: ToolSet<Context>, call: ToolCall, options: PrepareOptions<Context>): Soon<PreparedCall> {
  const { signal, clock = systemClock } = options;
  if (signal?.aborted === true) return settled(call, aborted, clock.now());
  const prepared = prepare(set, call, options);
  if (!(prepared instanceof Promise)) return 'type' in prepared ? prepared : settled(call, prepared, clock.now());
  const startedAt = clock.now();
  return untilAborted(signal, prepared).then((late) => settled(call, late, startedAt));
}

function settled(call: ToolCall, prepared: PreparedCall | Refusal | typeof aborted, startedAt: number): PreparedCall {
  if (prepared === aborted) return { type: 'ended', call, execution: cancelledExecution(call, { startedAt }) };
  if ('type' in prepared) return prepared;
  return { type: 'ended', call, execution: failedExecution(call, { type: 'tool', retryable: true, ...prepared }, { startedAt }) };
}

/** Finds out what is to be done about a call: finds its tool, parses its arguments, asks whether it is gated. Never rejects. */
export async function prepareCall<Context>(set: ToolSet<Context>, call: ToolCall, options: PrepareOptions<Context>): Promise<PreparedCall> {
  return prepareSoon(set, call, options);
}
