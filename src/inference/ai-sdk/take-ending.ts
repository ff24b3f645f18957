import { isRecord } from '../../lib/index.ts';
import type { ReportedUsage, ResponseBuilder } from '../index.ts';
import type { RawPart } from './take-part.ts';
import { getMetadata } from './take-part.ts';

type Fields = Readonly<Record<string, unknown>>;

function fields(value: unknown): Fields {
  return isRecord(value) ? value : {};
}

function count(value: unknown): number | undefined {
  return typeof value === 'number' && Number.isFinite(value) && value >= 0 ? value : undefined;
}

// Where the total is missing, its parts make it up.
function sum(...counts: readonly (number | undefined)[]): number | undefined {
  const given = counts.filter((each) => each !== undefined);
  return given.length === 0 ? undefined : given.reduce((total, each) => total + each, 0);
}

// How providers spell their counts, where the SDK hands on what they sent.
const inputNames = ['promptTokenCount', 'prompt_tokens', 'input_tokens'];
const outputNames = ['candidatesTokenCount', 'thoughtsTokenCount', 'completion_tokens', 'output_tokens'];
const totalNames = ['totalTokenCount', 'total_tokens'];

// Provider packages, Google's among them, put 0 in the place of a count that was not sent; what was sent tells the two apart.
function isMadeUp(total: unknown, raw: unknown, names: readonly string[]): boolean {
  if (total !== 0 || !isRecord(raw)) return false;
  const isTold = (name: string): boolean => count(raw[name]) !== undefined;
  const isFamiliar = Object.keys(raw).length === 0 || [...inputNames, ...outputNames, ...totalNames].some(isTold);
  return isFamiliar && !names.some(isTold);
}

/** Reads what the AI SDK says of the tokens of a call. */
export function readUsage(value: unknown): ReportedUsage {
  const { inputTokens, outputTokens, raw } = fields(value);
  const [givenInputs, givenOutputs] = [fields(inputTokens), fields(outputTokens)];
  const inputs: Fields = isMadeUp(givenInputs['total'], raw, inputNames) ? {} : givenInputs;
  const outputs: Fields = isMadeUp(givenOutputs['total'], raw, outputNames) ? {} : givenOutputs;
  const [cacheRead, cacheWrite, reasoning] = [count(inputs['cacheRead']), count(inputs['cacheWrite']), count(outputs['reasoning'])];
  return {
    input: count(inputs['total']) ?? sum(count(inputs['noCache']), cacheRead, cacheWrite),
    output: count(outputs['total']) ?? sum(count(outputs['text']), reasoning),
    cacheRead,
    cacheWrite,
    reasoning,
  };
}

function takeFinishReason(value: unknown, builder: ResponseBuilder): void {
  if (typeof value === 'string') {
    builder.finish(value);
    return;
  }
  const { unified, raw } = fields(value);
  const word = typeof unified === 'string' ? unified : undefined;
  const rawWord = typeof raw === 'string' ? raw : undefined;
  // Where the SDK has no word for it, the provider's own may still be one that we know.
  builder.finish(word === 'other' ? (rawWord ?? word) : word, rawWord);
}

/** Tells what the provider wants its user to know. */
export function takeWarnings(value: unknown, builder: ResponseBuilder): void {
  const warnings: readonly unknown[] = Array.isArray(value) ? value : [];
  for (const warning of warnings) {
    const { type, feature, setting, message, details } = fields(warning);
    const words = [type, feature ?? setting, message ?? details].filter((word) => typeof word === 'string');
    builder.warn(`The provider says: ${words.join(': ')}`);
  }
}

/** Takes who answered, as far as the provider says. */
export function takeMetadata(value: unknown, builder: ResponseBuilder): void {
  const { id, modelId } = fields(value);
  builder.facts({ id: typeof id === 'string' ? id : undefined, modelId: typeof modelId === 'string' ? modelId : undefined });
}

/** Takes what stands at the end of an answer: its usage, its metadata and why it ended. */
export function takeEnding(ending: RawPart | Fields, builder: ResponseBuilder): void {
  builder.usage(readUsage(ending['usage']));
  const part: RawPart = { ...ending, type: 'finish' };
  builder.facts({ providerMetadata: getMetadata(part) });
  takeFinishReason(ending['finishReason'], builder);
}
