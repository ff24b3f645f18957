import { checkKeys, describeValue, InvalidArgumentError } from '../lib/index.ts';
import type { Usage } from '../messages/index.ts';

/** Price of usage. */
export interface Price {
  readonly usd: number;
}

/** The model that is to be paid for. */
export interface PricedModel {
  readonly provider: string;
  readonly modelId: string;
  /** Time of the call, in milliseconds since the epoch; prices change. */
  readonly at?: number;
}

/** Returns the price of usage; undefined if it is unknown. Unknown is never zero. */
export type PriceSource = (usage: Usage, model: PricedModel) => Price | undefined;

/** US dollars per million tokens. */
export interface TokenPrices {
  readonly inputPerMillion: number;
  readonly outputPerMillion: number;
  /** @default inputPerMillion */
  readonly cacheReadPerMillion?: number;
  /** @default inputPerMillion */
  readonly cacheWritePerMillion?: number;
}

const million = 1_000_000;

// An AI SDK provider may name its API too: `openai.responses`.
const plainProvider = (provider: string): string => provider.split('.', 1)[0] ?? provider;

const priceNames = ['inputPerMillion', 'outputPerMillion', 'cacheReadPerMillion', 'cacheWritePerMillion'];

function checkPrices(name: string, prices: TokenPrices): void {
  if (!name.includes('/'))
    throw new InvalidArgumentError(`"${name}" in priceTable() has no provider. Use "provider/model", such as "openai/gpt-5".`);
  checkKeys(`the prices of "${name}"`, prices, priceNames);
  for (const [key, value] of Object.entries<number | undefined>({ ...prices })) {
    if (value === undefined || (Number.isFinite(value) && value >= 0)) continue;
    throw new InvalidArgumentError(`${key} of "${name}" must be a price in US dollars of 0 or more, not ${describeValue(value)}.`);
  }
}

function getCost({ input, output, cacheRead = 0, cacheWrite = 0 }: Usage, prices: TokenPrices): number {
  const { inputPerMillion, outputPerMillion, cacheReadPerMillion = inputPerMillion, cacheWritePerMillion = inputPerMillion } = prices;
  // Cached tokens are part of the input; a provider that counts them beside it must not make the rest negative.
  const plain = Math.max(0, input - cacheRead - cacheWrite);
  const cost = plain * inputPerMillion + cacheRead * cacheReadPerMillion + cacheWrite * cacheWritePerMillion + output * outputPerMillion;
  return cost / million;
}

const isUnknown = ({ unknownCalls = 0 }: Usage): boolean => unknownCalls > 0;

/** Prices from a table by `provider/model`. A model that is not in it has no known price. */
export function priceTable(table: Readonly<Record<string, TokenPrices>>): PriceSource {
  const prices = new Map(Object.entries(table));
  for (const [name, each] of prices) checkPrices(name, each);
  return (usage, { provider, modelId }) => {
    const found = prices.get(`${provider}/${modelId}`) ?? prices.get(`${plainProvider(provider)}/${modelId}`);
    return found === undefined || isUnknown(usage) ? undefined : { usd: getCost(usage, found) };
  };
}

/** The shape of `calcPrice` of the package `@pydantic/genai-prices`. */
export type CalculatePrice = (
  usage: Record<string, number | undefined>,
  modelId: string,
  options: { providerId: string; timestamp?: Date },
) => { readonly total_price: number } | null;

/** Prices from the package `@pydantic/genai-prices`: pass its `calcPrice`. */
export function pricesFrom(calculate: CalculatePrice): PriceSource {
  return (usage, { provider, modelId, at }) => {
    if (isUnknown(usage)) return undefined;
    const counts = {
      input_tokens: usage.input,
      output_tokens: usage.output,
      cache_read_tokens: usage.cacheRead,
      cache_write_tokens: usage.cacheWrite,
    };
    const options = { providerId: plainProvider(provider), ...(at !== undefined && { timestamp: new Date(at) }) };
    const usd = priceFound(calculate, { counts, modelId, options });
    return usd === undefined || !Number.isFinite(usd) ? undefined : { usd };
  };
}

interface Question {
  readonly counts: Record<string, number | undefined>;
  readonly modelId: string;
  readonly options: { providerId: string; timestamp?: Date };
}

// The package throws if the counts contradict each other: then the price is unknown.
function priceFound(calculate: CalculatePrice, { counts, modelId, options }: Question): number | undefined {
  try {
    return calculate(counts, modelId, options)?.total_price;
  } catch {
    return undefined;
  }
}
