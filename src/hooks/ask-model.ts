import { toFailure } from '../effects/index.ts';
import type { Model, ModelOutcome, ModelRequest, PricedModel, PriceSource } from '../inference/index.ts';
import { leaveOutRefused, listCoolingDown, parseOutcome } from '../inference/index.ts';
import { Usage } from '../messages/index.ts';
import type { Cost, StepScope } from '../step-by-step/index.ts';

/** Prices of models. */
export interface Pricing {
  readonly price: PriceSource | undefined;
  /** False if costs are not tracked. */
  readonly watchesCost: boolean;
}

function calculateUsd(usage: Usage, who: PricedModel, price: PriceSource | undefined): number | undefined {
  try {
    const usd = price?.(usage, who)?.usd;
    return usd !== undefined && Number.isFinite(usd) && usd >= 0 ? usd : undefined;
  } catch {
    // If a price list fails, the price is unknown.
    return undefined;
  }
}

/** Returns the cost of usage; undefined if costs are not tracked or nothing was used. */
export function toCost(usage: Usage, who: PricedModel, { price, watchesCost }: Pricing): Cost | undefined {
  if (!watchesCost || Usage.isNone(usage)) return undefined;
  const { unknownCalls = 0, ...known } = usage;
  const usd = Usage.isNone(known) ? 0 : calculateUsd(known, who, price);
  const unknown = unknownCalls + (usd === undefined ? 1 : 0);
  return { usd: usd ?? 0, ...(unknown > 0 && { unknownCalls: unknown }) };
}

/** Services and effect key of one model call. */
interface Asking {
  readonly scope: Pick<StepScope, 'effects' | 'models'> & {
    readonly time: Pick<StepScope['time'], 'clock'>;
    readonly notes: Pick<StepScope['notes'], 'add'>;
  };
  readonly key: string;
  readonly pricing: Pricing;
  readonly timeoutMs?: number | undefined;
  readonly label?: string | undefined;
}

/** Calls a model as an effect and records its usage. Never rejects. */
export async function askModel(
  model: Model,
  request: ModelRequest,
  { scope, key, pricing, timeoutMs, label = key }: Asking,
): Promise<ModelOutcome> {
  const begun: true[] = [];
  const { coolDowns, sharedBy } = scope.models;
  const coolingDown = coolDowns && listCoolingDown(coolDowns, scope.time.clock.now());
  const answered = await scope.effects.run(
    key,
    async (signal) => {
      begun.push(true);
      const asked = {
        ...request,
        messages: leaveOutRefused(request.messages, scope.models.refusedParts),
        ...(coolingDown !== undefined && { coolingDown }),
        ...(sharedBy !== undefined && { sharedBy }),
        signal: request.signal === undefined ? signal : AbortSignal.any([signal, request.signal]),
      };
      return parseOutcome(await model.generate(asked), model);
    },
    { effect: 'pure', failsAs: 'model', late: 'drop', label, ...(timeoutMs !== undefined && { timeoutMs }) },
  );
  // The usage of an interrupted call is unknown, unless it never started.
  const unread = { parts: [], usage: begun.length > 0 ? Usage.unknown() : Usage.none() };
  const outcome: ModelOutcome = answered.ok ? answered.value : { ok: false, failure: toFailure(answered), partial: unread };
  if (outcome.ok && outcome.response.route !== undefined) scope.models.record(outcome.response.route);
  if (!outcome.ok && outcome.failure.refusedParts !== undefined) scope.models.recordRefused(outcome.failure);
  const { usage, provider, modelId } = outcome.ok ? outcome.response : outcome.partial;
  const who = { provider: provider ?? model.provider, modelId: modelId ?? model.modelId, at: scope.time.clock.now() };
  scope.notes.add({ usage, cost: toCost(usage, who, pricing) });
  return outcome;
}
