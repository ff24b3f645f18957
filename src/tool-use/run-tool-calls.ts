// Running the calls of a step.
// Owns:     which calls run, which wait and for whom, and the events about them.
// Does not: judge a failure: the policy does.
// K1. A gated call never runs before somebody approved it.
// K2. Every call ends in one execution or one wait.
// K3. Once a vote forbids to continue, no further call starts.
// K4. A call that an earlier process began in this step has the end that it had there, whatever this one would do with it: its tool may be gone
//     by now, take other arguments or need an approval, or a hook may block it.
import type { Failure } from '../errors/index.ts';
import type { HookChain } from '../hooks/index.ts';
import { HookPoint } from '../hooks/index.ts';
import type { Soon } from '../lib/index.ts';
import { deepFreeze, escapePart, omitUndefined, stableStringify } from '../lib/index.ts';
import type { ToolCall } from '../messages/index.ts';
import type { Wait } from '../step-by-step/index.ts';
import type { EndedCall, PreparedCall, Tool, ToolExecution, WaitingCall } from '../tools/index.ts';
import { toCancelledExecution, prepareCall, recallCall, runCall } from '../tools/index.ts';
import { mapLimited } from './map-limited.ts';
import { runNestedCall } from './run-nested-call.ts';
import type { CallFacts } from './tool-use-events.ts';
import { ToolApprovalRequested, ToolCallCompleted, ToolCallProgress, ToolCallStarted } from './tool-use-events.ts';
import type { ToolUseState } from './tool-use-state.ts';
import type { CallResults, NestedMemo, ToolUseStep } from './tool-use-step.ts';
import type { Work } from './work.ts';

/** The calls that run together, with the step they belong to. */
interface Batch extends Work {
  /** True if a person approved these calls. */
  readonly approved: boolean;
  /** The state that the tools may read. */
  readonly state: ToolUseState;
  readonly preparing: Parameters<typeof prepareCall>[2];
}

function createBatch({ setup, turn, step }: Work, approved: boolean): Batch {
  const { state, scope } = turn;
  const { context, control, time } = scope;
  return { setup, turn, step, approved, state, preparing: { context, state, approved, clock: time.clock, signal: control.signal } };
}

/** A call whose end nobody saw. A person is asked about it, unless the run is interrupted before all calls have ended. */
interface UnknownCall {
  readonly unknown: ToolExecution;
}

const defaultConcurrency = 8;
const noWaits: CallResults['waits'] = Object.freeze([]);

/** Runs calls side by side. Calls that need somebody do not run: their waits are emitted and returned. */
export async function runToolCalls(
  work: Work,
  calls: readonly ToolCall[],
  { approved = false }: { readonly approved?: boolean } = {},
): Promise<CallResults> {
  const batch = createBatch(work, approved);
  const toResults = (result: CallResults | UnknownCall): CallResults => ('unknown' in result ? askAbout(work, result.unknown) : result);
  const [only] = calls;
  // Most steps have one call.
  if (calls.length === 1 && only !== undefined) return toResults(await runToolCall(batch, only, 0));
  const { toolConcurrency = defaultConcurrency } = work.setup;
  const results = await mapLimited(calls, toolConcurrency, (call, position) => runToolCall(batch, call, position));
  return mergeResults(results.map(toResults));
}

type CallEnd = CallResults | UnknownCall;

// Not async, like the two below: most hooks and checks answer at once, and an async function keeps all that it knows for every call.
function runToolCall(batch: Batch, given: ToolCall, position: number): Soon<CallEnd> {
  const index = findPlace(batch.step, given, position);
  const hooked = applyBeforeToolHooks(batch, given, index);
  return hooked instanceof Promise ? prepareLater(batch, hooked, index) : prepareToolCall(batch, hooked, index);
}

async function prepareLater(batch: Batch, hooked: Promise<CheckedCall>, index: number): Promise<CallEnd> {
  return prepareToolCall(batch, await hooked, index);
}

function prepareToolCall(batch: Batch, checked: CheckedCall, index: number): Soon<CallEnd> {
  if (checked.type !== 'call') return startToolCall(batch, checked, index);
  const prepared = prepareCall(batch.turn.tools, checked.call, batch.preparing);
  return prepared instanceof Promise ? startLater(batch, prepared, index) : startToolCall(batch, prepared, index);
}

async function startLater(batch: Batch, prepared: Promise<PreparedCall>, index: number): Promise<CallEnd> {
  return startToolCall(batch, await prepared, index);
}

function startToolCall(batch: Batch, prepared: PreparedCall, index: number): Soon<CallEnd> {
  const made = prepared.type === 'ready' ? undefined : recallMade(batch, prepared, index);
  if (made !== undefined) {
    batch.turn.scope.events.emit((header) => new ToolCallStarted(header, batch.setup.name, toFacts(prepared.call)));
    return isAsked(batch, made) ? { unknown: made } : completeCall(batch, prepared.call, made);
  }
  if (prepared.type !== 'ready' && prepared.type !== 'nested' && prepared.type !== 'ended') return toWaitResults(batch, prepared);
  const { setup, turn, step, state } = batch;
  const { scope } = turn;
  const { call } = prepared;
  const facts = toFacts(call);
  scope.events.emit((header) => new ToolCallStarted(header, setup.name, facts));
  if (prepared.type === 'ended') return emitCompleted(batch, prepared.execution);
  if (prepared.type === 'nested') {
    const { usage, cost } = step;
    return runNestedCall(batch, prepared, { index, own: { usage, cost }, round: 1, answers: [] }).then((outcome) =>
      outcome.type === 'waiting' ? outcome.results : completeCall(batch, call, outcome.execution),
    );
  }
  const { context, stepNumber } = scope;
  return runCall(prepared, {
    effects: scope.effects,
    key: `tool/${stepNumber}/${index}`,
    idempotencyKey: `${scope.executionId}/${stepNumber}/${escapePart(call.id)}`,
    context,
    state,
    clock: scope.time.clock,
    onProblem: scope.onProblem,
    onProgress: (progress) => scope.events.emitPiece((header) => new ToolCallProgress(header, setup.name, { ...facts, progress })),
  }).then((execution) => (isAsked(batch, execution) ? { unknown: execution } : completeCall(batch, call, execution)));
}

/** Returns what an earlier process did of a call that this one does not run; undefined if it did not begin it. */
export function recallMade({ turn }: Work, { type, call }: Pick<PreparedCall, 'type' | 'call'>, index: number): ToolExecution | undefined {
  const { effects, stepNumber, time } = turn.scope;
  // A run inside that goes on asks for its own calls again.
  const keys = type === 'nested' ? ['tool'] : ['tool', 'nested'];
  const tool = turn.tools.get(call.name);
  const maxResultChars = tool?.type === 'function' ? tool.maxResultChars : undefined;
  return recallCall(call, { effects, keys: keys.map((key) => `${key}/${stepNumber}/${index}`), clock: time.clock, maxResultChars });
}

/** Finds the place of a call among those of its step. `position` is its place among those that run together, which are often the same. */
export function findPlace({ toolCalls }: ToolUseStep, { id }: ToolCall, position: number): number {
  if (toolCalls[position]?.id === id) return position;
  const found = toolCalls.findIndex((call) => call.id === id);
  return found === -1 ? position : found;
}

const toFacts = ({ id, name, args }: ToolCall): CallFacts => ({ tool: name, toolCallId: id, args: deepFreeze(args) });

const changedArguments = 'a hook changed the arguments after they had been approved';

/** A call that the hooks have seen: to be prepared, or what became of it instead. */
type CheckedCall = PreparedCall | { readonly type: 'call'; readonly call: ToolCall };

/** Shows a call to the hooks before it is prepared. Returns it, changed or not, or what became of it instead. */
function applyBeforeToolHooks(batch: Batch, call: ToolCall, index: number): Soon<CheckedCall> {
  const { setup, turn, step, approved } = batch;
  const { hooks } = setup;
  const { scope } = turn;
  if (scope.control.forbidding !== undefined || turn.failures.length > 0) return refuseCall(turn, call);
  const tool = turn.tools.get(call.name);
  // A call that cannot be made is not shown.
  if (hooks?.has(HookPoint.BeforeTool) !== true || tool === undefined || call.rawArgs !== undefined) return { type: 'call', call };
  // A call that a person approved is shown once more: time has passed, and its arguments may have been edited.
  const detail = approved ? `${index}/approved-${step.answers?.length ?? 0}` : String(index);
  const asked = hooks.beforeTool({ state: turn.state, scope, detail }, { call, tool, approved });
  const shown = { call, tool };
  return asked instanceof Promise ? decideLater(batch, shown, asked) : decide(batch, shown, asked);
}

/** A call that was shown to hooks. */
interface ShownCall {
  readonly call: ToolCall;
  readonly tool: Tool;
}

function decide({ turn, approved }: Batch, { call, tool }: ShownCall, { state, verdict }: HookVerdict): CheckedCall {
  turn.keep(state);
  if (verdict.type === 'ended') return { type: 'ended', call, execution: verdict.execution };
  if (turn.scope.control.forbidding !== undefined) return refuseCall(turn, call);
  const isChanged = approved && verdict.call !== call && stableStringify(verdict.call.args) !== stableStringify(call.args);
  return isChanged ? { type: 'needs-approval', call: verdict.call, tool, problem: changedArguments } : verdict;
}

async function decideLater(batch: Batch, shown: ShownCall, asked: Promise<HookVerdict>): Promise<CheckedCall> {
  return decide(batch, shown, await asked);
}

type HookVerdict = Awaited<ReturnType<HookChain['beforeTool']>>;

/** A call that does not start, because a vote ends the run or a hook has failed. */
function refuseCall({ scope: { control, time }, failures: [failure] }: Work['turn'], call: ToolCall): EndedCall {
  const { forbidding } = control;
  const why = forbidding === undefined ? '' : ` (${forbidding.criterion}: ${forbidding.reason})`;
  const text = `The call was not made: ${failure?.message ?? `the run was told to end${why}.`}`;
  return { type: 'ended', call, execution: toCancelledExecution(call, { startedAt: time.clock.now(), text }) };
}

/** Shows the result of a call that was made to the hooks, and emits the end of the call. */
export function completeCall(work: Work, call: ToolCall, execution: ToolExecution): Soon<CallResults> {
  const { hooks } = work.setup;
  const wasMade = execution.status === 'succeeded' || execution.status === 'failed';
  const isShown = wasMade && hooks?.has(HookPoint.AfterTool) === true;
  return isShown ? applyAfterToolHooks(work, hooks, { call, execution }) : emitCompleted(work, execution);
}

async function applyAfterToolHooks(
  { setup, turn, step }: Work,
  hooks: HookChain,
  { call, execution }: { readonly call: ToolCall; readonly execution: ToolExecution },
): Promise<CallResults> {
  const index = step.toolCalls.findIndex(({ id }) => id === call.id);
  const place = { state: turn.state, scope: turn.scope, detail: String(index) };
  const shown = await hooks.afterTool(place, execution, { call, tool: setup.tools.get(call.name) });
  turn.keep(shown.state);
  return { ...emitCompleted({ setup, turn, step }, shown.execution), failures: shown.failures };
}

/** Emits the end of a call. Listeners cannot change what is recorded. */
export function emitCompleted({ setup, turn }: Work, execution: ToolExecution): CallResults {
  freezeExecution(execution);
  turn.scope.events.emit((header) => new ToolCallCompleted(header, setup.name, execution));
  return { executions: [execution], waits: noWaits };
}

// By the names of the fields, because this runs for every call.
function freezeExecution(execution: ToolExecution): void {
  deepFreeze(execution.args);
  deepFreeze(execution.value);
  deepFreeze(execution.output);
  if (execution.failure !== undefined) deepFreeze(execution.failure);
  Object.freeze(execution);
}

/** True if a person is to be asked about a call. Nobody is asked once the run is interrupted. */
const isAsked = ({ setup, turn }: Work, { status }: ToolExecution): boolean =>
  status === 'unknown' && setup.onUnknown === 'ask' && turn.scope.control.interruption === undefined;

function askAbout(work: Work, execution: ToolExecution): CallResults {
  const { toolCallId: id, toolName, args } = execution;
  return isAsked(work, execution)
    ? { executions: [], waits: [{ type: 'unknown-call', id, toolName, args }] }
    : emitCompleted(work, execution);
}

function toWaitResults({ setup, turn }: Work, prepared: WaitingCall): CallResults {
  if (prepared.type === 'provider') return { executions: [], waits: [] };
  const { id, name: toolName, args } = prepared.call;
  const { scope } = turn;
  // Nobody is asked in a run that is about to end.
  if (scope.control.ending === undefined && scope.control.forbidding === undefined) {
    const Requested = prepared.type === 'client-tool' ? ToolCallStarted : ToolApprovalRequested;
    const reason = prepared.type === 'client-tool' ? undefined : prepared.reason;
    const facts = { ...toFacts(prepared.call), waitId: `${scope.nesting.path}${id}`, ...omitUndefined({ reason }) };
    scope.events.emit((header) => new Requested(header, setup.name, facts));
  }
  const fingerprint = prepared.tool?.type === 'provider' ? undefined : prepared.tool?.fingerprint;
  const call = omitUndefined({ id, toolName, args, fingerprint });
  if (prepared.type === 'client-tool') return { executions: [], waits: [{ type: 'client-tool', ...call }] };
  const { problem, reason, tool } = prepared;
  const approvalScope = tool?.type === 'function' ? tool.approvalScope : undefined;
  return { executions: [], waits: [omitUndefined({ type: 'approval' as const, ...call, problem, reason, approvalScope })] };
}

/** All results as one, in the given order. */
export function mergeResults(parts: readonly CallResults[]): CallResults {
  const [only] = parts;
  if (parts.length === 1 && only !== undefined) return only;
  const executions: ToolExecution[] = [];
  const waits: Wait[] = [];
  const failures: Failure[] = [];
  let nested: Record<string, NestedMemo> | undefined;
  for (const part of parts) {
    executions.push(...part.executions);
    waits.push(...part.waits);
    if (part.failures !== undefined) failures.push(...part.failures);
    if (part.nested !== undefined) nested = { ...nested, ...part.nested };
  }
  return nested === undefined ? { executions, waits, failures } : { executions, waits, failures, nested };
}
