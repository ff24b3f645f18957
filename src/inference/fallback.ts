import type { Failure } from '../errors/index.ts';
import { ErrorType } from '../errors/index.ts';
import { Usage } from '../messages/index.ts';
import type { OnDelta } from './ask.ts';
import { ask, modelLike, modelName } from './ask.ts';
import { sortByCoolDown, toRowNames } from './cool-down.ts';
import type { Model, ModelNotice, ModelOutcome, ModelRequest, ModelResponse, ModelRoute } from './model.ts';
import { abortedFailure } from './settle-answer.ts';
import { emitDelta, emitNotice } from './emit-notice.ts';

interface Attempt {
  readonly model: Model;
  readonly failure: Failure;
}

type Failed = Extract<ModelOutcome, { readonly ok: false }>;

// Another model helps if this one is busy, slow or broken; not if the request is at fault, or nobody wants an answer.
function mayHelp({ type, retryable }: Failure): boolean {
  return retryable && type !== ErrorType.Validation && type !== ErrorType.Tool;
}

function mapResponse(outcome: ModelOutcome, change: (response: ModelResponse) => ModelResponse): ModelOutcome {
  return outcome.ok ? { ...outcome, response: change(outcome.response) } : { ...outcome, partial: change(outcome.partial) };
}

function addModel(outcome: ModelOutcome, { modelId, provider }: Model): ModelOutcome {
  return mapResponse(outcome, (response) => ({ modelId, ...response, provider }));
}

function listAttempts(outcome: Failed, earlier: readonly Attempt[], last: Model): ModelOutcome {
  if (earlier.length === 0 || outcome.failure.code === abortedFailure.code) return outcome;
  const attempts = [...earlier, { model: last, failure: outcome.failure }];
  const words = attempts.map(({ model, failure }) => `${modelName(model)}: ${failure.message}`);
  return { ...outcome, failure: { ...outcome.failure, message: `${attempts.length} models failed. ${words.join(' | ')}` } };
}

// An attempt that was refused at the door has used nothing; one that had begun to answer and reported nothing is unknown.
function getSpent({ parts, usage }: ModelResponse): Usage {
  const { unknownCalls: _, ...known } = usage;
  return parts.length > 0 ? usage : known;
}

// What the failed attempts cost was spent on this answer.
function addSpent(outcome: ModelOutcome, spent: Usage): ModelOutcome {
  return Usage.isNone(spent) ? outcome : mapResponse(outcome, (response) => ({ ...response, usage: Usage.add(spent, response.usage) }));
}

// The last of a nested row of models has signed what came of it.
const getFailedName = ({ provider, modelId }: ModelResponse, model: Model): string =>
  provider === undefined || modelId === undefined ? modelName(model) : `${provider}/${modelId}`;

function countFallbacks(request: ModelRequest, inner: { usage: Usage }): ModelRequest {
  if (request.onNotice === undefined) return request;
  const onNotice = (notice: ModelNotice): void => {
    if (notice.type === 'fallback') inner.usage = Usage.add(inner.usage, notice.usage);
    emitNotice(request, notice);
  };
  return { ...request, onNotice };
}

function noteDeltas(onDelta: NonNullable<OnDelta>, emitted: { any: boolean }): OnDelta {
  return (delta) => {
    emitted.any = true;
    onDelta(delta);
  };
}

/** A row of models, asked for one answer. */
interface Row {
  readonly models: readonly Model[];
  readonly names: readonly string[];
}

/** Emits each model that is skipped because it is cooling down, when one behind it is asked. Returns a function to call before each. */
function emitSkipped({ names }: Row, request: ModelRequest): (place: number) => void {
  const { coolingDown = [] } = request;
  let announced = 0;
  return (place) => {
    for (; announced < place; announced += 1) {
      const model = names[announced] ?? '';
      if (coolingDown.includes(model) && !coolingDown.includes(names[place] ?? '')) emitNotice(request, { type: 'skipped', model });
    }
  };
}

/** Adds the route to an answer, if somebody counts failures or there were any. */
function addRoute(outcome: ModelOutcome, route: ModelRoute, { coolingDown }: ModelRequest): ModelOutcome {
  if (!outcome.ok || (route.failed.length === 0 && coolingDown === undefined)) return outcome;
  const { response } = outcome;
  // A model that is itself a row of models has said which of them answered.
  const { failed, answered } = response.route ?? { failed: [], answered: route.answered };
  return { ok: true, response: { ...response, route: { failed: [...route.failed, ...failed], answered } } };
}

/**
 * Asks the model, then each of the others once, until one answers. A rate limit, a time-out or a failure that may pass leads to the
 * next; a bad request, a wrong key, an overfull context or an abort does not. Models that the request names as cooling down are asked
 * last. If pieces of a failed answer were emitted already, a `restart` delta says so before the next model answers. The usage is what
 * all attempts reported.
 */
export function withFallback(model: Model, others: Model | readonly Model[]): Model {
  const models = [model, ...[others].flat()];
  const row: Row = { models, names: toRowNames(models) };
  return modelLike(model, (request, onDelta) => askRow(row, request, onDelta));
}

async function askRow(row: Row, request: ModelRequest, onDelta: OnDelta): Promise<ModelOutcome> {
  const { models, names } = row;
  const order = sortByCoolDown(names, request.coolingDown);
  const announceSkipped = emitSkipped(row, request);
  const failed: Attempt[] = [];
  const failedNames: string[] = [];
  let spent = Usage.none();
  const emitted = { any: false };
  const listen: OnDelta = onDelta && noteDeltas(onDelta, emitted);
  const [first] = models;
  for (let turn = 0; ; turn += 1) {
    const place = order[turn] ?? 0;
    // Holds: there are as many places as models, and the loop ends at the last one.
    const current = models[place] as Model;
    const next = models[order[turn + 1] ?? models.length];
    announceSkipped(place);
    // A model may itself turn to others; what they reported already is not reported again.
    const inner = { usage: Usage.none() };
    const outcome = await ask(current, countFallbacks(request, inner), listen);
    const sign = (signed: ModelOutcome): ModelOutcome => addSpent(current === first ? signed : addModel(signed, current), spent);
    if (outcome.ok) return addRoute(sign(outcome), { failed: failedNames, answered: names[place] ?? '' }, request);
    if (next === undefined || !mayHelp(outcome.failure)) return sign(listAttempts(outcome, failed, current));
    failed.push({ model: current, failure: outcome.failure });
    failedNames.push(names[place] ?? '');
    const whole = getSpent(outcome.partial);
    const usage = Usage.minus(whole, inner.usage);
    spent = Usage.add(spent, whole);
    emitNotice(request, {
      type: 'fallback',
      from: getFailedName(outcome.partial, current),
      to: modelName(next),
      failure: outcome.failure,
      usage,
    });
    if (emitted.any) emitDelta(onDelta, { type: 'restart' });
    emitted.any = false;
  }
}
