// Effects in this process: each call goes straight through.
// E1. Never throws or rejects: what goes wrong is returned as a failure with its kind.
// E2. Settles at once when the run is interrupted or the time is up, whatever the work does.
// E3. A value that comes after that is dropped, and reported.
// E4. A value is canonical, or the call fails.
import type { ErrorType } from '../errors/index.ts';
import { classifyError, TimedOutError } from '../errors/index.ts';
import type { ProblemReporter } from '../events/index.ts';
import { reportSafely } from '../events/index.ts';
import type { Clock } from '../lib/index.ts';
import { isThenable, toCanonical } from '../lib/index.ts';
import type { EffectControl } from './effect-control.ts';
import type { EffectFailure, EffectOptions, EffectResult, Effects } from './effects.ts';
import { createCancelledEffect } from './effects.ts';
import { LateResultError } from './late-result-error.ts';
import { UnencodableValueError } from './unencodable-value-error.ts';

interface DirectEffectsOptions {
  readonly clock: Clock;
  readonly control: EffectControl;
  readonly onProblem: ProblemReporter;
}

function toEffectFailure(error: unknown, failsAs: ErrorType | undefined): EffectFailure {
  const failure = classifyError(error, failsAs === undefined ? {} : { fallback: failsAs });
  return { ok: false, kind: failure.type === 'timeout' ? 'timeout' : 'error', ...failure };
}

function toResult<Value>(value: Value, failsAs: ErrorType | undefined): EffectResult<Value> {
  const canonical = toCanonical(value);
  // Holds because a canonical value is the same data in its JSON form.
  if (canonical.ok) return canonical as EffectResult<Value>;
  return toEffectFailure(new UnencodableValueError(canonical.path, canonical.problem, canonical), failsAs);
}

interface Cancellable {
  /** Place in the list of open effects. */
  place: number;
  cancel(): void;
}

/** An effect that has not settled. */
class OpenEffect<Value> implements Cancellable {
  place = 0;
  readonly #effects: OpenEffects;
  readonly #key: string;
  readonly #options: EffectOptions;
  readonly #abort: AbortController | undefined;
  readonly #cancelTimer: (() => void) | undefined;
  #ended: EffectResult<Value> | undefined;
  #resolve: ((result: EffectResult<Value>) => void) | undefined;

  constructor(effects: OpenEffects, key: string, options: EffectOptions) {
    this.#effects = effects;
    this.#key = key;
    this.#options = options;
    const { timeoutMs } = options;
    if (timeoutMs === undefined) return;
    this.#abort = new AbortController();
    this.#cancelTimer = effects.clock.schedule(timeoutMs, () => this.#timeOut(timeoutMs));
  }

  /** Starts the work. Nothing is awaited if its value is there at once. */
  start(work: (signal: AbortSignal) => Value | Promise<Value>): Promise<EffectResult<Value>> {
    const signal = this.#abort?.signal ?? this.#effects.control.signal;
    try {
      const value = work(signal);
      if (isThenable(value)) this.#follow(value);
      else this.#settle(toResult(value, this.#options.failsAs));
    } catch (error) {
      this.#fail(error);
    }
    if (this.#ended !== undefined) return Promise.resolve(this.#ended);
    return new Promise((resolve) => {
      this.#resolve = resolve;
    });
  }

  cancel(): void {
    this.#abort?.abort(this.#effects.control.signal.reason);
    this.#settle(createCancelledEffect());
  }

  #follow(value: PromiseLike<Value>): void {
    Promise.resolve(value).then(
      (late) => this.#settle(toResult(late, this.#options.failsAs)),
      (error: unknown) => this.#fail(error),
    );
  }

  #fail(error: unknown): void {
    this.#settle(toEffectFailure(error, this.#options.failsAs));
  }

  #timeOut(timeoutMs: number): void {
    const { label = this.#key } = this.#options;
    const error = new TimedOutError(`${label} took longer than ${timeoutMs} ms.`);
    this.#abort?.abort(error);
    this.#fail(error);
  }

  #settle(ended: EffectResult<Value>): void {
    if (this.#ended !== undefined) {
      const { late = 'report', label = this.#key } = this.#options;
      if (ended.ok && late === 'report') this.#effects.reportLate(label, this.#key);
      return;
    }
    this.#ended = ended;
    this.#effects.remove(this);
    this.#cancelTimer?.();
    this.#resolve?.(ended);
  }
}

/** The effects of a run that have not settled. One listener serves all of them. */
class OpenEffects {
  readonly clock: Clock;
  readonly control: EffectControl;
  readonly #onProblem: ProblemReporter;
  readonly #open: Cancellable[] = [];
  #isListening = false;

  constructor({ clock, control, onProblem }: DirectEffectsOptions) {
    this.clock = clock;
    this.control = control;
    this.#onProblem = onProblem;
  }

  add(effect: Cancellable): void {
    // Not before the first effect: a control that is interrupted already would call back at once, and never again.
    if (!this.#isListening) this.control.onInterrupt(() => this.#cancelAll());
    this.#isListening = true;
    effect.place = this.#open.length;
    this.#open.push(effect);
  }

  // The last one takes its place: a set would be built anew every few effects.
  remove(effect: Cancellable): void {
    const last = this.#open.pop();
    if (last === undefined || last === effect) return;
    last.place = effect.place;
    this.#open[effect.place] = last;
  }

  reportLate(label: string, key: string): void {
    reportSafely(this.#onProblem, new LateResultError(label), `effect ${key}`);
  }

  #cancelAll(): void {
    for (const effect of [...this.#open]) effect.cancel();
  }
}

const usualOptions: EffectOptions = Object.freeze({});

export function createDirectEffects(options: DirectEffectsOptions): Effects {
  const { clock, control } = options;
  const effects = new OpenEffects(options);
  return {
    run: <Value>(
      key: string,
      work: (signal: AbortSignal) => Value | Promise<Value>,
      options: EffectOptions = usualOptions,
    ): Promise<EffectResult<Value>> => {
      if (control.interruption !== undefined) return Promise.resolve(createCancelledEffect());
      const effect = new OpenEffect<Value>(effects, key, options);
      effects.add(effect);
      return effect.start(work);
    },
    sleep: (_key, ms) =>
      new Promise((resolve) => {
        const cancelTimer = clock.schedule(ms, () => {
          unsubscribe();
          resolve({ ok: true, value: null });
        });
        const unsubscribe = control.onEnding(() => {
          cancelTimer();
          resolve(createCancelledEffect());
        });
      }),
  };
}
