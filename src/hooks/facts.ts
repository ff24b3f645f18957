// Facts passed to hooks. Classes with getters only: assigning to them throws in the hook that tries.
import type { Effects } from '../effects/index.ts';
import { withKeyPrefix } from '../effects/index.ts';
import type { ContinuationOutcome, StopReason } from '../continuation/index.ts';
import type { Failure } from '../errors/index.ts';
import type { Model, ModelOutcome, ModelRequest, ModelResponse, ModelSettings } from '../inference/index.ts';
import type { Clock, IdSource } from '../lib/index.ts';
import { cleanText, escapePart, isRecord, toCanonical } from '../lib/index.ts';
import type { Message, ToolCall } from '../messages/index.ts';
import type { Observed, RunState, Step, StepScope } from '../step-by-step/index.ts';
import type { ToolExecution } from '../tools/index.ts';
import type { Pricing } from './ask-model.ts';
import { askModel } from './ask-model.ts';
import { HookReported } from './hook-events.ts';
import type { HookFacts, InferenceRequestFacts, SeenFacts } from './hook-facts.ts';
import type { HookPoint } from './hook-point.ts';

/** Place in a run at which a hook is called. */
export interface Place {
  readonly state: RunState;
  readonly scope: StepScope;
  /** Distinguishes several calls at the same point of a step, one for each tool call. */
  readonly detail?: string | undefined;
  /** The tool call at this point. */
  readonly toolCallId?: string | undefined;
}

/** A point of a run at which hooks are called one after the other. */
export interface At extends Omit<Place, 'state'> {
  readonly point: HookPoint;
  /** Kind of orchestrator in events. */
  readonly orchestrator: string;
  readonly pricing: Pricing;
}

/** One call of a hook: its name, the place and the state. */
export interface Calling {
  readonly hook: string;
  readonly state: RunState;
  readonly at: At;
}

export class Facts implements HookFacts<RunState, unknown> {
  readonly #calling: Calling;
  #effects: Effects | undefined;
  #asked = 0;

  constructor(calling: Calling) {
    this.#calling = calling;
  }

  get point(): HookPoint {
    return this.#calling.at.point;
  }
  get state(): RunState {
    return this.#calling.state;
  }
  get context(): unknown {
    return this.#calling.at.scope.context;
  }
  get executionId(): string {
    return this.#calling.at.scope.executionId;
  }
  get stepNumber(): number {
    return this.#calling.at.scope.stepNumber;
  }
  get signal(): AbortSignal {
    return this.#calling.at.scope.control.signal;
  }
  get clock(): Clock {
    return this.#calling.at.scope.time.clock;
  }
  get ids(): IdSource {
    return this.#calling.at.scope.ids;
  }
  get effects(): Effects {
    return (this.#effects ??= withKeyPrefix(this.#calling.at.scope.effects, this.#key('hook')));
  }

  #key(kind: string): string {
    const { hook, at } = this.#calling;
    const { scope, point, detail } = at;
    return `${kind}/${scope.stepNumber}/${point}${detail === undefined ? '' : `/${detail}`}/${escapePart(hook)}`;
  }

  /** Returns a function that needs no `this`: facts are usually destructured. */
  get report(): HookFacts<RunState, unknown>['report'] {
    return (message, data = {}) => {
      const { hook, at } = this.#calling;
      const { scope, point, orchestrator } = at;
      const canonical = toCanonical(data);
      const facts = { hook, point, message: cleanText(message), data: canonical.ok && isRecord(canonical.value) ? canonical.value : {} };
      scope.events.emit((header) => new HookReported(header, orchestrator, facts));
    };
  }
  get ask(): HookFacts<RunState, unknown>['ask'] {
    return (model, request) => this.#ask(model, request);
  }

  #ask(model: Model, request: ModelRequest): Promise<ModelOutcome> {
    const { scope, pricing } = this.#calling.at;
    // Under a name of its own: a hook may call an effect of its own "model/1".
    const effects = withKeyPrefix(scope.effects, this.#key('hook-model'));
    this.#asked += 1;
    return askModel(model, request, {
      scope: { effects, time: scope.time, notes: scope.notes, models: scope.models },
      key: `model/${this.#asked}`,
      pricing: { price: pricing.price ?? scope.budget.price, watchesCost: pricing.watchesCost || scope.budget.watchesCost },
    });
  }
}

export class InferenceFacts extends Facts {
  readonly #request: InferenceRequestFacts;

  constructor(calling: Calling, request: InferenceRequestFacts) {
    super(calling);
    this.#request = request;
  }

  get messages(): readonly Message[] {
    return this.#request.messages;
  }
  get settings(): ModelSettings {
    return this.#request.settings;
  }
  get tools(): readonly string[] {
    return this.#request.tools;
  }
  get purpose(): string | undefined {
    return this.#request.purpose;
  }
}

export class ResponseFacts extends Facts {
  readonly #response: ModelResponse;

  constructor(calling: Calling, response: ModelResponse) {
    super(calling);
    this.#response = response;
  }

  get response(): ModelResponse {
    return this.#response;
  }
}

export class ToolCallFacts extends Facts {
  readonly #call: ToolCall;
  readonly #approved: boolean;

  constructor(calling: Calling, call: ToolCall, approved: boolean) {
    super(calling);
    this.#call = call;
    this.#approved = approved;
  }

  get call(): ToolCall {
    return this.#call;
  }
  get approved(): boolean {
    return this.#approved;
  }
}

export class ResultFacts extends Facts {
  readonly #call: ToolCall;
  readonly #execution: ToolExecution;

  constructor(calling: Calling, call: ToolCall, execution: ToolExecution) {
    super(calling);
    this.#call = call;
    this.#execution = execution;
  }

  get call(): ToolCall {
    return this.#call;
  }
  get execution(): ToolExecution {
    return this.#execution;
  }
}

export class StepFacts extends Facts {
  readonly #step: Step;

  constructor(calling: Calling, step: Step) {
    super(calling);
    this.#step = step;
  }

  get step(): Step {
    return this.#step;
  }
  get errors(): readonly Failure[] {
    return this.#step.errors;
  }
}

/** A record, for hooks that change nothing. */
export class SeenRecord implements SeenFacts<RunState, unknown> {
  readonly #point: HookPoint;
  readonly #seen: Observed<RunState>;

  constructor(point: HookPoint, seen: Observed<RunState>) {
    this.#point = point;
    this.#seen = seen;
  }

  get point(): HookPoint {
    return this.#point;
  }
  get state(): RunState {
    return this.#seen.state;
  }
  get context(): unknown {
    return this.#seen.context;
  }
  get step(): Step | undefined {
    return this.#seen.result?.step;
  }
  get errors(): readonly Failure[] {
    return this.#seen.result?.step.errors ?? [];
  }
  get outcome(): ContinuationOutcome | undefined {
    return this.#seen.result?.outcome ?? this.#seen.state.startOutcome;
  }
  get stopReason(): StopReason | undefined {
    return this.#seen.stopReason;
  }
}
