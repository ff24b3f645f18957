// Time-outs
// Owns:     how long a call may keep us waiting.
// Does not: retry, or trust the model to honour its signal.
// T1. The call settles at once when its time is up or its signal fires, whatever the model does; what comes later is dropped.
// T2. No timer and no listener is left behind.
// T3. Waiting for permission (`withModelLimits`) counts in the total only; another model (`withFallback`) has its first byte to send again.
import { classifyError, ErrorType, TimedOutError } from '../errors/index.ts';
import type { Clock } from '../lib/index.ts';
import { describeValue, findKeyProblem, InvalidArgumentError, systemClock } from '../lib/index.ts';
import { Usage } from '../messages/index.ts';
import type { OnDelta } from './ask.ts';
import { ask, modelLike, modelName } from './ask.ts';
import { checkModel } from './check-model.ts';
import type { Model, ModelNotice, ModelOutcome, ModelRequest, ModelTimeouts } from './model.ts';
import { PartialAnswer } from './partial-answer.ts';
import { abortedFailure } from './settle-answer.ts';
import { createSilenceWatch } from './silence-watch.ts';
import { emitActivity, emitDelta, emitNotice } from './emit-notice.ts';

/**
 * Adds time limits to a model. The request's own `timeouts` win, field by field. An answer that is asked for in one piece
 * comes all at once, so for it `firstByteMs` is the time until the answer, and `silenceMs` is not watched.
 */
export function withTimeouts(model: Model, timeouts: ModelTimeouts = {}, clock: Clock = systemClock): Model {
  checkModel('withTimeouts()', model);
  const wrong = findProblem(timeouts);
  if (wrong !== undefined) throw wrong;
  return modelLike(model, async ({ timeouts: own, ...request }, onDelta) => {
    const limits: ModelTimeouts = { ...timeouts, ...own };
    const problem = findProblem(limits);
    if (problem !== undefined) return toRefusal(problem, request);
    const watched = [limits.totalMs, limits.firstByteMs, onDelta && limits.silenceMs];
    if (watched.every((limit) => limit === undefined)) return ask(model, request, onDelta);
    return watch({ model, request, limits, clock }, onDelta);
  });
}

function findProblem(timeouts: ModelTimeouts): InvalidArgumentError | undefined {
  const unknown = findKeyProblem('timeouts', timeouts, ['firstByteMs', 'silenceMs', 'totalMs']);
  if (unknown !== undefined) return new InvalidArgumentError(unknown);
  for (const [key, ms] of Object.entries<unknown>({ ...timeouts }))
    if (ms !== undefined && !(typeof ms === 'number' && ms > 0))
      return new InvalidArgumentError(`timeouts.${key} must be a number of milliseconds above 0, not ${describeValue(ms)}.`);
  return undefined;
}

// A model never throws (M1); the same request would be refused again.
function toRefusal(problem: InvalidArgumentError, { signal }: ModelRequest): ModelOutcome {
  const failure = { ...classifyError(problem, { fallback: ErrorType.Validation }), retryable: false };
  return { ok: false, failure: signal?.aborted === true ? abortedFailure : failure, partial: { parts: [], usage: Usage.none() } };
}

interface Watched {
  readonly model: Model;
  readonly request: ModelRequest;
  readonly limits: ModelTimeouts;
  readonly clock: Clock;
}

function watch({ model, request, limits, clock }: Watched, onDelta: OnDelta): Promise<ModelOutcome> {
  const { signal } = request;
  const { firstByteMs, silenceMs, totalMs } = limits;
  return new Promise((resolve) => {
    const partial = new PartialAnswer();
    const inner = new AbortController();
    let open = true;
    const settle = (outcome: ModelOutcome): void => {
      if (!open) return;
      open = false;
      silence.stop();
      cancelTotal?.();
      signal?.removeEventListener('abort', abort);
      resolve(outcome);
    };
    const abort = (): void => {
      settle({ ok: false, failure: abortedFailure, partial: partial.toResponse() });
      inner.abort(signal?.reason);
    };
    const expire = (what: string, ms: number): void => {
      const error = new TimedOutError(`${modelName(model)} ${what} within ${ms} ms.`);
      settle({ ok: false, failure: classifyError(error), partial: partial.toResponse() });
      inner.abort(error);
    };
    const silence = createSilenceWatch(clock, (kind, ms) =>
      expire(onDelta === undefined ? 'did not answer' : kind === 'first' ? 'sent nothing' : 'sent nothing more', ms),
    );
    const cancelTotal = totalMs === undefined ? undefined : clock.schedule(totalMs, () => expire('did not finish', totalMs));
    const begin = (): void => silence.begin(firstByteMs, onDelta && silenceMs);
    const onNotice = (notice: ModelNotice): void => {
      if (!open) return;
      if (notice.type === 'waiting') silence.stop();
      if (notice.type === 'waited' || notice.type === 'fallback') begin();
      emitNotice(request, notice);
    };
    const hear: OnDelta =
      onDelta &&
      ((delta) => {
        if (!open) return;
        silence.heard();
        partial.take(delta);
        emitDelta(onDelta, delta);
      });
    const onActivity = (): void => {
      if (!open) return;
      // The first byte of an answer in one piece is the answer.
      if (onDelta !== undefined) silence.heard();
      emitActivity(request);
    };

    if (signal?.aborted === true) {
      abort();
      return;
    }
    signal?.addEventListener('abort', abort, { once: true });
    begin();
    void ask(model, { ...request, signal: inner.signal, onNotice, onActivity }, hear).then(settle);
  });
}
