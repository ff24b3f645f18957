// The hooks of one orchestrator, in their order.
// Owns:     which hook is called at which point and in which order, and how changes apply to the current work.
// Does not: know what a step is made of beyond calls, messages and failures, or decide anything: votes join the judgement.
// H1. Hooks of a point are called one after the other, by order, then as given; no answer keeps the next hook from being called.
// H2. A change that a hook has not declared, or that cannot be made at that point, is refused, and the hook has failed.
// H3. A hook that fails at a tool fails that call, unless it could not have changed it; elsewhere before the judgement it fails the
//     step; after it, nothing.
// H4. A hook that is interrupted with the run has not failed.
// H5. Hooks that cannot change a step see it after it was recorded; nobody waits for them.
import type { ContinuationEvaluation, Findings } from '../continuation/index.ts';
import type { Failure } from '../errors/index.ts';
import type { ModelResponse } from '../inference/index.ts';
import type { Soon } from '../lib/index.ts';
import { deepFreeze, copyFrozen } from '../lib/index.ts';
import type { Message, ToolCall } from '../messages/index.ts';
import { MessageStore } from '../messages/index.ts';
import type { Observed, RunState, Step } from '../step-by-step/index.ts';
import type { Tool, ToolExecution } from '../tools/index.ts';
import { toAnsweredExecution, toCancelledExecution, toFailedExecution, withArgs } from '../tools/index.ts';
import type { Pricing } from './ask-model.ts';
import type { At, Calling, Place } from './facts.ts';
import { ToolCallFacts, Facts, InferenceFacts, ResponseFacts, ResultFacts, StepFacts } from './facts.ts';
import type { Hook } from './hook.ts';
import { isObserver } from './hook.ts';
import { canonical, changeRequest, cutOff, toHookError, narrowTools } from './hook-answer.ts';
import { ask, blockCall, keep, orFailure, emitChange, whenThere } from './hook-call.ts';
import type { InferenceRequestFacts } from './hook-facts.ts';
import { HookPoint, hookPoints } from './hook-point.ts';
import { show } from './observers.ts';
import { findOutputProblem, findUnreadableMessage, replaceOutput } from './step-output.ts';

/** Options of a chain. */
export interface HookChainOptions extends Pricing {
  /** Kind of orchestrator in events. */
  readonly name: string;
  /** No two have the same name. */
  readonly hooks: readonly Hook<never>[];
}

/** Decision about a call before it runs. */
export type CallVerdict =
  { readonly type: 'call'; readonly call: ToolCall } | { readonly type: 'ended'; readonly execution: ToolExecution };

/** A tool call as hooks receive it. */
export interface CallAt {
  readonly call: ToolCall;
  readonly tool: Tool | undefined;
  readonly approved?: boolean;
}

function inOrder(hooks: readonly Hook[]): readonly Hook[] {
  return [...hooks].sort((one, other) => one.order - other.order);
}

/** Visits items one after the other; synchronous if none of them has to be awaited. */
function visitInTurn<Item>(items: readonly Item[], visit: (item: Item) => Soon<void>, from = 0): Soon<void> {
  for (let index = from; index < items.length; index += 1) {
    // Holds: the index is within the list.
    const visited = visit(items[index] as Item);
    if (visited instanceof Promise) return visited.then(() => visitInTurn(items, visit, index + 1));
  }
}

/** Freezes the content of a recorded step: hooks see it again with every later state. */
function freezeWithin(step: Step): void {
  for (const field of Object.values(step) as readonly unknown[]) {
    // A list may be frozen while its items are not.
    if (Array.isArray(field)) for (const item of field) deepFreeze(item);
    deepFreeze(field);
  }
}

/** Freezes the state before hooks see it. */
function shut<State extends RunState>(state: State): State {
  const { data } = state;
  if (Object.isFrozen(data)) return state;
  Object.freeze(data.execution);
  Object.freeze(data);
  return Object.freeze(state);
}

export class HookChain {
  readonly #at: ReadonlyMap<HookPoint, readonly Hook[]>;
  readonly #observers: ReadonlyMap<HookPoint, readonly Hook[]>;
  readonly #options: HookChainOptions;
  /** In the order in which they are called. */
  readonly hooks: readonly Hook[];

  constructor(options: HookChainOptions) {
    // Holds: the orchestrator only ever hands over states and contexts of its own kind.
    const hooks = options.hooks as readonly Hook[];
    this.#options = options;
    this.hooks = inOrder(hooks);
    const looksOn = (hook: Hook, point: HookPoint): boolean =>
      point === HookPoint.ExecutionEnd || ((point === HookPoint.AfterStep || point === HookPoint.OnError) && isObserver(hook, point));
    const select = (wanted: boolean): ReadonlyMap<HookPoint, readonly Hook[]> =>
      new Map(
        hookPoints.flatMap((point) => {
          const found = this.hooks.filter((hook) => hook.handlers[point] !== undefined && looksOn(hook, point) === wanted);
          return found.length === 0 ? [] : [[point, found] as const];
        }),
      );
    this.#at = select(false);
    this.#observers = select(true);
  }

  has(point: HookPoint): boolean {
    return this.#at.has(point);
  }
  /** True if one of them can vote before a step. */
  get canForbidSteps(): boolean {
    return this.#hooks(HookPoint.BeforeStep).some(({ changes }) => changes.includes('votes'));
  }
  /** True if one of them is a time guard. */
  get watchesTime(): boolean {
    return this.hooks.some(({ remainingMs }) => remainingMs !== undefined);
  }
  /** Shortest time that the guards among the hooks leave. */
  remainingMs(state: RunState, findings: Findings): number | undefined {
    const left = this.hooks.flatMap((hook) => hook.remainingMs?.(state, findings) ?? []);
    return left.length === 0 ? undefined : Math.min(...left);
  }

  /** Evaluation of the first time guard among the hooks that forbids; undefined if none does. */
  evaluateTime(state: RunState, findings: Findings): ContinuationEvaluation | undefined {
    return this.hooks.map((hook) => hook.evaluateTime?.(state, findings)).find((evaluation) => evaluation?.decision === 'forbid');
  }

  /** Called before a start is judged. Throws if a hook fails. */
  executionStart(place: Place): Soon<RunState> {
    // A start that is judged again after a grant needs its own key.
    const { grants = [] } = place.state.execution;
    return this.#plain(HookPoint.ExecutionStart, grants.length === 0 ? place : { ...place, detail: `grant-${grants.length}` });
  }

  /** Returns the changed state, and the tools that are left. Throws if a hook fails. */
  beforeStep(place: Place, tools: readonly string[]): Soon<{ readonly state: RunState; readonly tools: readonly string[] }> {
    const at = this.#point(HookPoint.BeforeStep, place);
    const now = { state: place.state, tools };
    const visit = (hook: Hook): Soon<void> => {
      const calling = { hook: hook.name, state: shut(now.state), at };
      return whenThere(ask(hook, new Facts(calling), calling), (change) => {
        if (change === cutOff || change === undefined) return;
        now.state = keep(hook, change, calling);
        now.tools = narrowTools(now.tools, change.tools, calling);
        const { conversation } = change;
        if (conversation !== undefined) {
          if (!(conversation instanceof MessageStore)) throw toHookError(calling, 'its conversation is not a MessageStore.');
          const problem = findUnreadableMessage(listNew(now.state.store, conversation));
          if (problem !== undefined) throw toHookError(calling, `the messages of its conversation ${problem}`);
          place.scope.notes.add({ store: conversation });
          now.state = now.state.evolve({ store: conversation });
        }
        emitChange(calling, change);
      });
    };
    return whenThere(visitInTurn(this.#hooks(HookPoint.BeforeStep), visit), () => now);
  }

  /** Returns the changed request; undefined if the run was interrupted meanwhile. Throws if a hook fails. */
  beforeInference(
    place: Place,
    request: InferenceRequestFacts,
  ): Soon<{ readonly state: RunState; readonly request: InferenceRequestFacts } | undefined> {
    const at = this.#point(HookPoint.BeforeInference, place);
    const shown = { ...request, settings: copyFrozen(request.settings) };
    const now = { state: place.state, request: shown as InferenceRequestFacts, wasCutOff: false };
    const visit = (hook: Hook): Soon<void> => {
      const calling = { hook: hook.name, state: shut(now.state), at };
      return whenThere(ask(hook, new InferenceFacts(calling, now.request), calling), (change) => {
        if (change === cutOff) now.wasCutOff = true;
        if (change === cutOff || change === undefined) return;
        now.state = keep(hook, change, calling);
        now.request = changeRequest(now.request, change, calling);
        emitChange(calling, change);
      });
    };
    return whenThere(visitInTurn(this.#hooks(HookPoint.BeforeInference), visit), () =>
      now.wasCutOff
        ? undefined
        : {
            state: now.state,
            request: now.request.settings === shown.settings ? { ...now.request, settings: request.settings } : now.request,
          },
    );
  }

  /** Throws if a hook fails. */
  afterInference(place: Place, response: ModelResponse): Soon<RunState> {
    const shown = copyFrozen(response);
    return this.#plain(HookPoint.AfterInference, place, (calling) => new ResponseFacts(calling, shown));
  }

  /** Decides if a call runs, and with which arguments. Never throws: a hook that fails fails the call. */
  beforeTool(
    place: Place,
    { call: given, tool, approved = false }: CallAt,
  ): Soon<{ readonly state: RunState; readonly verdict: CallVerdict }> {
    const startedAt = place.scope.time.clock.now();
    const at = this.#point(HookPoint.BeforeTool, { ...place, toolCallId: given.id });
    // A frozen one can be shared by all hooks.
    const now: { state: RunState; call: ToolCall; ended: Soon<ToolExecution> | undefined } = {
      state: place.state,
      call: copyFrozen(given),
      ended: undefined,
    };
    const first = now.call;
    const visit = (hook: Hook): Soon<void> => {
      const calling = { hook: hook.name, state: shut(now.state), at };
      const { call } = now;
      return orFailure(calling, {
        ask: () => ask(hook, new ToolCallFacts(calling, call, approved), calling),
        next: (change) => {
          if (change === cutOff) now.ended ??= toCancelledExecution(call, { startedAt });
          if (change === cutOff || change === undefined) return;
          now.state = keep(hook, change, calling);
          if (change.args !== undefined) now.call = Object.freeze(withArgs(call, canonical(change.args, 'its args', calling)));
          if (change.block !== undefined) now.ended ??= blockCall(call, change.block, { calling, startedAt });
          if (change.result !== undefined) {
            const result = canonical(change.result, 'its result', calling);
            now.ended ??= toAnsweredExecution(now.call, result, { tool, startedAt });
          }
          emitChange(calling, change);
        },
        fail: (failure) => {
          now.ended ??= toFailedExecution(call, failure, { startedAt, text: `"${call.name}" was not called: ${failure.message}` });
        },
      });
    };
    return whenThere(visitInTurn(this.#hooks(HookPoint.BeforeTool), visit), () => {
      const { state, call, ended } = now;
      // A call that no hook changed continues as it came: its tool may change its own arguments.
      if (ended === undefined) return { state, verdict: { type: 'call', call: call.args === first.args ? given : call } as const };
      return whenThere(ended, (execution) => ({ state, verdict: { type: 'ended', execution } as const }));
    });
  }

  /** Returns the result of the call, and the failures of hooks that saw it. Never throws. */
  afterTool(
    place: Place,
    given: ToolExecution,
    { call, tool }: CallAt,
  ): Soon<{ readonly state: RunState; readonly execution: ToolExecution; readonly failures: readonly Failure[] }> {
    const at = this.#point(HookPoint.AfterTool, { ...place, toolCallId: call.id });
    const shownCall = copyFrozen(call);
    const now = { state: place.state, execution: given, shown: copyFrozen(given), failures: [] as Failure[] };
    const settle = (execution: ToolExecution): void => {
      now.execution = execution;
      now.shown = copyFrozen(execution);
    };
    const visit = (hook: Hook): Soon<void> => {
      const calling = { hook: hook.name, state: shut(now.state), at };
      const { startedAt, durationMs } = now.execution;
      const answers = hook.changes.includes('result') || hook.changes.includes('block');
      return orFailure(calling, {
        ask: () => ask(hook, new ResultFacts(calling, shownCall, now.shown), calling),
        next: (change) => {
          // A hook that may change results is responsible for them: a result that it had no time to check is withheld.
          if (change === cutOff && answers)
            settle(toCancelledExecution(call, { startedAt, durationMs, text: describeWithheld(call, cutShort) }));
          if (change === cutOff || change === undefined) return undefined;
          now.state = keep(hook, change, calling);
          const { block, result } = change;
          if (block !== undefined) settle(blockCall(call, block, { calling, startedAt, durationMs }));
          const value = result === undefined ? undefined : canonical(result, 'its result', calling);
          emitChange(calling, change);
          if (block !== undefined || value === undefined) return undefined;
          return toAnsweredExecution(call, value, { tool, startedAt, durationMs }).then(settle);
        },
        fail: (failure) => {
          if (!answers) now.failures.push({ ...failure, toolName: call.name, toolCallId: call.id });
          else settle(toFailedExecution(call, failure, { startedAt, durationMs, text: describeWithheld(call, failure.message) }));
        },
      });
    };
    return whenThere(visitInTurn(this.#hooks(HookPoint.AfterTool), visit), () => now);
  }

  /** Returns the step to judge, after the hooks for steps and, if it failed, for failures. Never throws. */
  inspect<S extends Step>(place: Place, given: S): Soon<S> {
    const now = { state: place.state, step: given };
    const fail = (failure: Failure): void => {
      now.step = deepFreeze({ ...now.step, errors: [...now.step.errors, failure] });
      now.state = withJudgedStep(now.state, now.step);
    };
    const visit =
      (at: At) =>
      (hook: Hook): Soon<void> => {
        const calling = { hook: hook.name, state: shut(now.state), at };
        return orFailure(calling, {
          ask: () => ask(hook, new StepFacts(calling, now.step), calling),
          next: (change) => {
            if (change === cutOff || change === undefined) return;
            now.state = keep(hook, change, calling);
            if (change.output !== undefined) {
              const problem = findOutputProblem(now.step, change.output);
              if (problem !== undefined) throw toHookError(calling, problem);
              now.step = deepFreeze(replaceOutput(now.step, change.output as string | readonly Message[]));
              now.state = withJudgedStep(now.state, now.step);
            }
            emitChange(calling, change);
          },
          fail,
        });
      };
    deepFreeze(given);
    return whenThere(visitInTurn(this.#hooks(HookPoint.AfterStep), visit(this.#point(HookPoint.AfterStep, place))), () => {
      if (now.step.errors.length === 0) return now.step;
      return whenThere(visitInTurn(this.#hooks(HookPoint.OnError), visit(this.#point(HookPoint.OnError, place))), () => now.step);
    });
  }

  /** Shows the record to observers. Nobody waits for them, and their errors are reported. */
  observe(seen: Observed<RunState>): void {
    if (seen.result !== undefined) freezeWithin(seen.result.step);
    if (seen.result !== undefined) this.#show(HookPoint.AfterStep, seen);
    if (seen.result !== undefined && seen.result.step.errors.length > 0) this.#show(HookPoint.OnError, seen);
    if (seen.stopReason !== undefined) this.#show(HookPoint.ExecutionEnd, seen);
  }

  #show(point: HookPoint, seen: Observed<RunState>): void {
    for (const hook of this.#observers.get(point) ?? []) show(hook, point, { ...seen, state: shut(seen.state) });
  }

  #hooks(point: HookPoint): readonly Hook[] {
    return this.#at.get(point) ?? [];
  }

  #point(point: HookPoint, { scope, detail, toolCallId }: Place): At {
    return { point, scope, detail, toolCallId, orchestrator: this.#options.name, pricing: this.#options };
  }

  /** Calls the hooks of a point at which only votes and metadata can be changed. */
  #plain(point: HookPoint, place: Place, factsOf = (calling: Calling): Facts => new Facts(calling)): Soon<RunState> {
    let { state } = place;
    const at = this.#point(point, place);
    const visit = (hook: Hook): Soon<void> => {
      const calling = { hook: hook.name, state: shut(state), at };
      return whenThere(ask(hook, factsOf(calling), calling), (change) => {
        if (change === cutOff || change === undefined) return;
        state = keep(hook, change, calling);
        emitChange(calling, change);
      });
    };
    return whenThere(visitInTurn(this.#hooks(point), visit), () => state);
  }
}

/** Lists the messages of a conversation that an earlier one does not have. */
function listNew(before: MessageStore, after: MessageStore): readonly Message[] {
  const known = new Set(before.names.flatMap((name) => before.section(name).toArray()));
  return after.names.flatMap((name) => after.section(name).filter((message) => !known.has(message)));
}

const cutShort = 'the run was cut off before a hook had looked at it';
const describeWithheld = ({ name }: ToolCall, why: string): string => `The result of "${name}" was withheld: ${why}`;

const withJudgedStep = (state: RunState, judgedStep: Step): RunState => state.evolve({ execution: { ...state.execution, judgedStep } });
