import type { Failure } from '../errors/index.ts';
import { classifyError } from '../errors/index.ts';
import type { Clock, Json, Soon } from '../lib/index.ts';
import { aborted, cleanText, isPlainObject, jsonCopy, jsonEquals, systemClock, toCanonical, untilAborted } from '../lib/index.ts';
import type { ProviderTool, ToolCall } from '../messages/index.ts';
import { findJsonProblem } from './json-problem.ts';
import type { Parsed } from './schema-issue.ts';
import { issuesText } from './schema-issue.ts';
import type { ArgsProblem, ClientTool, FunctionTool, NestedTool, Tool } from './tool.ts';
import type { ToolExecution } from './tool-execution.ts';
import { toCancelledExecution, toFailedExecution } from './tool-execution.ts';
import { unknownToolText } from './tool-name.ts';
import type { ToolSet } from './tool-set.ts';

/** A call that may run: its arguments fit, and nobody has to be asked. */
export interface ReadyCall {
  readonly type: 'ready';
  /** The call, with its arguments in their stored form. */
  readonly call: ToolCall;
  readonly tool: FunctionTool<unknown, unknown, unknown>;
  /** The arguments as the schema parsed them; passed to `run`, and never stored. */
  readonly parsed: unknown;
}

/** A call whose work is a run of its own: its arguments fit. */
export interface NestedCall {
  readonly type: 'nested';
  readonly call: ToolCall;
  readonly tool: NestedTool<unknown, unknown, unknown>;
  readonly parsed: unknown;
}

/** A call that needs an outside action before it has a result. */
export type WaitingCall =
  /** A person must approve it first. */
  | {
      readonly type: 'needs-approval';
      readonly call: ToolCall;
      readonly tool: Tool | undefined;
      /** Reason why a given approval cannot be used. */
      readonly problem?: string;
      /** Reason that the tool's rule gave for asking. */
      readonly reason?: string;
    }
  /** Somebody outside runs it. */
  | { readonly type: 'client-tool'; readonly call: ToolCall; readonly tool: ClientTool }
  /** The provider runs it, and returns the result itself. */
  | { readonly type: 'provider'; readonly call: ToolCall };

/** A call that cannot run; the execution tells the model why. */
export interface EndedCall {
  readonly type: 'ended';
  readonly call: ToolCall;
  readonly execution: ToolExecution;
}

/** A call, and how to handle it. */
export type PreparedCall = ReadyCall | NestedCall | WaitingCall | EndedCall;

/** Services and facts that a call is prepared with. */
export interface PrepareOptions<Context> {
  readonly context: Context;
  readonly state?: unknown;
  /** True if a person has approved the call. @default false */
  readonly approved?: boolean;
  /** Ends a check that hangs. */
  readonly signal?: AbortSignal;
  /** @default systemClock */
  readonly clock?: Clock;
}

type RunnableTool = ReadyCall['tool'] | ClientTool | NestedCall['tool'] | ProviderTool;

/** Reason for which a call cannot run. */
interface Refusal extends Pick<Failure, 'code' | 'message'> {
  readonly ok: false;
}

type Read<Value> = { readonly ok: true; readonly value: Value } | Refusal;

const refuse = (code: string, message: string): Refusal => ({ ok: false, code, message });

function readArgs({ args, rawArgs, name }: ToolCall): Read<Json> {
  // A model sends nothing for a tool without arguments; text that is kept as unreadable and empty was cut off.
  if (rawArgs?.trim() === '') {
    return refuse('invalid-json', `The arguments of "${name}" never came: the answer was cut off. Call it again with its arguments.`);
  }
  const broken = rawArgs === undefined ? undefined : findJsonProblem(rawArgs);
  if (broken !== undefined)
    return refuse('invalid-json', `The arguments of "${name}" are not valid JSON, ${broken}. Call it again with valid JSON.`);
  const canonical = toCanonical(rawArgs === undefined ? args : JSON.parse(rawArgs));
  if (canonical.ok) return canonical;
  const { path, problem } = canonical;
  return refuse('invalid-arguments', `The arguments of "${name}" are not valid: ${path === '' ? 'the value' : path} ${problem}.`);
}

/** Passes a value on, now or when it is there, or the error that was thrown instead. */
function follow<Value, Next>(start: () => Soon<Value>, next: (value: Value) => Next, fail: (error: unknown) => Next): Soon<Next> {
  try {
    const value = start();
    return value instanceof Promise ? value.then(next).catch(fail) : next(value);
  } catch (error) {
    return fail(error);
  }
}

function parseArgs({ input, name }: FunctionTool | ClientTool | NestedTool, args: Json): Soon<Read<unknown>> {
  // Written out instead of followed: this runs for every call, and most schemas answer at once.
  try {
    const parsed = input.parse(args);
    if (!(parsed instanceof Promise)) return toRead(parsed, name);
    return readLater(parsed, name);
  } catch (error) {
    return refuseUnchecked(name, error);
  }
}

async function readLater(parsed: Promise<Parsed<unknown>>, name: string): Promise<Read<unknown>> {
  try {
    return toRead(await parsed, name);
  } catch (error) {
    return refuseUnchecked(name, error);
  }
}

function toRead(parsed: Parsed<unknown>, name: string): Read<unknown> {
  if (parsed.ok) return parsed;
  return refuse('invalid-arguments', `The arguments of "${name}" do not fit: ${issuesText(parsed.issues)}.`);
}

const refuseUnchecked = (name: string, error: unknown): Refusal =>
  refuse('invalid-arguments', `The arguments of "${name}" could not be checked: ${classifyError(error).message}`);

function checkGate<Context>(ready: ReadyCall, { approved = false, context, state }: PrepareOptions<Context>): Soon<PreparedCall | Refusal> {
  const { call, tool } = ready;
  const { needsApproval } = tool;
  // Most tools are never gated.
  if (approved || needsApproval === false) return ready;
  const gated: WaitingCall = { type: 'needs-approval', call, tool };
  if (needsApproval === true) return gated;
  return follow<unknown, PreparedCall | Refusal>(
    () => needsApproval(ready.parsed, { context, toolCallId: call.id, state }),
    // A gate without a clear answer stays shut.
    (answer) => (answer === false ? ready : typeof answer === 'string' && answer !== '' ? { ...gated, reason: cleanText(answer) } : gated),
    (error) => refuse('approval-check-failed', `Whether "${call.name}" may run could not be found out: ${classifyError(error).message}`),
  );
}

function prepare<Context>(set: ToolSet<Context>, given: ToolCall, options: PrepareOptions<Context>): Soon<PreparedCall | Refusal> {
  if (given.providerExecuted === true) return { type: 'provider', call: given };
  // Holds: arguments reach a tool only as its own schema parsed them, and the set says which context its tools need.
  const tool = set.get(given.name) as RunnableTool | undefined;
  if (tool === undefined) return refuse('unknown-tool', unknownToolText(given.name, set.names));
  if (tool.type === 'provider') return refuse('provider-tool', providerToolText(given.name));
  const args = readArgs(given);
  if (!args.ok) return args;
  const call = given.rawArgs === undefined && args.value === given.args ? given : withArgs(given, args.value);
  // A copy: what a tool does with its arguments must not change what was said.
  const read = parseArgs(tool, jsonCopy(args.value));
  const checked = { call, tool };
  return read instanceof Promise ? nextLater(checked, read, options) : toNext(checked, read, options);
}

interface CheckedCall {
  readonly call: ToolCall;
  readonly tool: Exclude<RunnableTool, ProviderTool>;
}

async function nextLater<Context>(
  checked: CheckedCall,
  read: Promise<Read<unknown>>,
  options: PrepareOptions<Context>,
): Promise<PreparedCall | Refusal> {
  return toNext(checked, await read, options);
}

function toNext<Context>({ call, tool }: CheckedCall, read: Read<unknown>, options: PrepareOptions<Context>): Soon<PreparedCall | Refusal> {
  if (!read.ok) return read;
  if (tool.type === 'client') return { type: 'client-tool', call, tool };
  const parsed = read.value;
  return tool.type === 'nested' ? { type: 'nested', call, tool, parsed } : checkGate({ type: 'ready', call, tool, parsed }, options);
}

const providerToolText = (name: string): string => `"${name}" is run by the provider. It cannot be run here.`;

/** Describes how the schema of a tool changes arguments, as by a default; undefined if it leaves them as they are. */
export function findSchemaChange(
  { name, args }: Pick<ToolCall, 'name' | 'args'>,
  parsed: unknown,
): { readonly change: string } | undefined {
  const canonical = toCanonical(parsed);
  if (canonical.ok && jsonEquals(canonical.value, args)) return undefined;
  const [sent = {}, run = {}] = [args, canonical.ok ? canonical.value : {}].map((value) => (isPlainObject(value) ? value : {}));
  const names = Object.keys({ ...sent, ...run }).filter(
    (key) => !(key in sent && key in run && jsonEquals(sent[key] ?? null, run[key] ?? null)),
  );
  return { change: `the schema of "${name}" changes them (${names.join(', ')}). Send them as they will run, defaults included.` };
}

/** The problem with the arguments for a tool; undefined if they fit. */
export async function findArgsProblem(tool: Tool, args: Json): Promise<ArgsProblem | undefined> {
  if (tool.type === 'provider') return providerToolText(tool.name);
  const parsed = await parseArgs(tool, jsonCopy(args));
  return parsed.ok ? findSchemaChange({ name: tool.name, args }, parsed.value) : parsed.message;
}

/** The same call with other arguments, as after a person edited them. */
export function withArgs({ rawArgs: _, ...call }: ToolCall, args: Json): ToolCall {
  return { ...call, args };
}

function toPrepared(call: ToolCall, prepared: PreparedCall | Refusal | typeof aborted, startedAt: number): PreparedCall {
  if (prepared === aborted) return { type: 'ended', call, execution: toCancelledExecution(call, { startedAt }) };
  if ('type' in prepared) return prepared;
  const { code, message } = prepared;
  return { type: 'ended', call, execution: toFailedExecution(call, { type: 'tool', retryable: true, code, message }, { startedAt }) };
}

/** Finds the tool of a call, parses the arguments, and asks if it is gated; at once unless a check has to be awaited. Never rejects. */
export function prepareCall<Context>(set: ToolSet<Context>, call: ToolCall, options: PrepareOptions<Context>): Soon<PreparedCall> {
  const { signal, clock = systemClock } = options;
  if (signal?.aborted === true) return toPrepared(call, aborted, clock.now());
  const prepared = prepare(set, call, options);
  if (!(prepared instanceof Promise)) return 'type' in prepared ? prepared : toPrepared(call, prepared, clock.now());
  const startedAt = clock.now();
  // A check of the host's own may hang; an interruption does not wait for it.
  return untilAborted(prepared, signal).then((late) => toPrepared(call, late, startedAt));
}
