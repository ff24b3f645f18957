import type { Failure } from '../errors/index.ts';
import { ErrorType } from '../errors/index.ts';
import { Usage } from '../messages/index.ts';
import type { OnDelta } from './ask.ts';
import { ask, modelLike, modelName } from './ask.ts';
import { checkModel } from './check-model.ts';
import type { RowMember } from './cool-down.ts';
import { sortByCoolDown, toRow } from './cool-down.ts';
import type { Model, ModelNotice, ModelOutcome, ModelRequest, ModelResponse, ModelRoute } from './model.ts';
import { abortedFailure } from './settle-answer.ts';
import { emitDelta, emitNotice } from './emit-notice.ts';

interface Attempt {
  readonly member: RowMember;
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

function listAttempts(outcome: Failed, earlier: readonly Attempt[], last: RowMember): ModelOutcome {
  if (earlier.length === 0 || outcome.failure.code === abortedFailure.code) return outcome;
  const attempts = [...earlier, { member: last, failure: outcome.failure }];
  const words = attempts.map(({ member, failure }) => `${member.name}: ${failure.message}`);
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

/** Lists the models before this one that are skipped because they are cooling down. */
function listSkipped(row: readonly RowMember[], current: RowMember, { coolingDown = [] }: ModelRequest): readonly string[] {
  if (coolingDown.includes(current.name)) return [];
  return row.slice(0, row.indexOf(current)).flatMap(({ name }) => (coolingDown.includes(name) ? [name] : []));
}

/** Adds the route to an answer, if somebody counts failures or there were any. */
function addRoute(outcome: ModelOutcome, route: ModelRoute, { coolingDown }: ModelRequest): ModelOutcome {
  if (!outcome.ok || (route.failed.length === 0 && coolingDown === undefined)) return outcome;
  const { response } = outcome;
  // A model that is itself a row of models has said which of them answered.
  const { failed, answered, problems: inner } = response.route ?? { failed: [], answered: route.answered };
  const problems = [...(route.problems ?? []), ...(inner ?? failed.map(() => ''))];
  const shown = problems.length === 0 ? {} : { problems };
  return { ok: true, response: { ...response, route: { failed: [...route.failed, ...failed], ...shown, answered } } };
}

/**
 * Asks the model, then each of the others once, until one answers. A rate limit, a time-out or a failure that may pass leads to the
 * next; a bad request, a wrong key, an overfull context or an abort does not. Models that the request names as cooling down are asked
 * last. If pieces of a failed answer were emitted already, a `restart` delta says so before the next model answers. The usage is what
 * all attempts reported.
 */
export function withFallback(model: Model, others: Model | readonly Model[]): Model {
  checkModel('withFallback()', model);
  const rest = [others].flat();
  for (const [index, other] of rest.entries()) checkModel('withFallback()', other, `others[${index}]`);
  const row = toRow([model, ...rest]);
  return modelLike(model, (request, onDelta) => askRow(row, request, onDelta));
}

async function askRow(row: readonly RowMember[], request: ModelRequest, onDelta: OnDelta): Promise<ModelOutcome> {
  const failed: Attempt[] = [];
  const announced = new Set<string>();
  let spent = Usage.none();
  const emitted = { any: false };
  const listen: OnDelta = onDelta && noteDeltas(onDelta, emitted);
  let outcome: ModelOutcome = { ok: false, failure: abortedFailure, partial: { parts: [], usage: Usage.none() } };
  const order = sortByCoolDown(row, request.coolingDown);
  for (const [turn, current] of order.entries()) {
    const { name, model } = current;
    const next = order[turn + 1];
    for (const skipped of listSkipped(row, current, request).filter((each) => !announced.has(each))) {
      announced.add(skipped);
      emitNotice(request, { type: 'skipped', model: skipped });
    }
    // A model may itself turn to others; what they reported already is not reported again.
    const inner = { usage: Usage.none() };
    outcome = await ask(model, countFallbacks(request, inner), listen);
    const sign = (signed: ModelOutcome): ModelOutcome => addSpent(current === row[0] ? signed : addModel(signed, model), spent);
    if (outcome.ok)
      return addRoute(
        sign(outcome),
        { failed: failed.map(({ member }) => member.name), problems: failed.map(({ failure }) => failure.message), answered: name },
        request,
      );
    if (next === undefined || !mayHelp(outcome.failure)) return sign(listAttempts(outcome, failed, current));
    failed.push({ member: current, failure: outcome.failure });
    const whole = getSpent(outcome.partial);
    const usage = Usage.minus(whole, inner.usage);
    spent = Usage.add(spent, whole);
    emitNotice(request, {
      type: 'fallback',
      from: getFailedName(outcome.partial, model),
      to: modelName(next.model),
      failure: outcome.failure,
      usage,
    });
    if (emitted.any) emitDelta(onDelta, { type: 'restart' });
    emitted.any = false;
  }
  return outcome;
}
