import { isRecord } from '../../lib/index.ts';
import type { ReportedUsage, ResponseBuilder } from '../index.ts';
import type { Fields } from './fields.ts';
import { readText, toFields, toList } from './fields.ts';
import { getMetadata } from './take-part.ts';

function count(value: unknown): number | undefined {
  return typeof value === 'number' && Number.isFinite(value) && value >= 0 ? value : undefined;
}

// If the total is missing, its parts make it up.
function sum(...counts: readonly (number | undefined)[]): number | undefined {
  const given = counts.filter((each) => each !== undefined);
  return given.length === 0 ? undefined : given.reduce((total, each) => total + each, 0);
}

// How providers spell their counts, if the SDK hands on what they sent.
const inputNames = ['promptTokenCount', 'prompt_tokens', 'input_tokens'];
const outputNames = ['candidatesTokenCount', 'thoughtsTokenCount', 'completion_tokens', 'output_tokens'];
const totalNames = ['totalTokenCount', 'total_tokens'];

// Provider packages, Google's among them, put 0 in place of a count that was not sent; what was sent tells the two apart.
function isMadeUp(total: unknown, raw: unknown, names: readonly string[]): boolean {
  if (total !== 0 || !isRecord(raw)) return false;
  const isTold = (name: string): boolean => count(raw[name]) !== undefined;
  const isFamiliar = Object.keys(raw).length === 0 || [...inputNames, ...outputNames, ...totalNames].some(isTold);
  return isFamiliar && !names.some(isTold);
}

/** Reads the AI SDK's token counts of a call. */
export function readUsage(value: unknown): ReportedUsage {
  const { inputTokens, outputTokens, raw } = toFields(value);
  const givenInputs = toFields(inputTokens);
  const givenOutputs = toFields(outputTokens);
  const inputs: Fields = isMadeUp(givenInputs['total'], raw, inputNames) ? {} : givenInputs;
  const outputs: Fields = isMadeUp(givenOutputs['total'], raw, outputNames) ? {} : givenOutputs;
  const cacheRead = count(inputs['cacheRead']);
  const cacheWrite = count(inputs['cacheWrite']);
  const reasoning = count(outputs['reasoning']);
  return {
    input: count(inputs['total']) ?? sum(count(inputs['noCache']), cacheRead, cacheWrite),
    output: count(outputs['total']) ?? sum(count(outputs['text']), reasoning),
    cacheRead,
    cacheWrite,
    reasoning,
  };
}

/** Why an answer ended, in the AI SDK's word and in the provider's own. */
interface GivenReason {
  readonly word: string | undefined;
  readonly rawWord: string | undefined;
}

function readReason(value: unknown): GivenReason {
  if (typeof value === 'string') return { word: value, rawWord: undefined };
  const reason = toFields(value);
  return { word: readText(reason, 'unified'), rawWord: readText(reason, 'raw') };
}

function takeFinishReason({ word, rawWord }: GivenReason, builder: ResponseBuilder): void {
  // If the SDK has no word for it, the provider's own may still be one that we know.
  builder.finish(word === 'other' ? (rawWord ?? word) : word, rawWord);
}

const vagueWords: ReadonlySet<string | undefined> = new Set([undefined, '', 'other', 'unknown']);

// Some packages put 0 in place of every count if no usage came.
function isReported(value: unknown): boolean {
  const { inputTokens, outputTokens, raw } = toFields(value);
  return (
    raw !== undefined || [inputTokens, outputTokens].some((counts) => Object.values(toFields(counts)).some((each) => Number(each) > 0))
  );
}

/** Emits the provider's warnings. */
export function takeWarnings(value: unknown, builder: ResponseBuilder): void {
  for (const warning of toList(value)) {
    const { type, feature, setting, message, details } = toFields(warning);
    const words = [type, feature ?? setting, message ?? details].filter((word) => typeof word === 'string');
    builder.warn(`The provider says: ${words.join(': ')}`);
  }
}

/** Takes the id and the model of the answer, as far as the provider gives them. */
export function takeMetadata(value: unknown, builder: ResponseBuilder): void {
  const metadata = toFields(value);
  builder.facts({ id: readText(metadata, 'id'), modelId: readText(metadata, 'modelId') });
}

/** Takes the end of an answer: its usage, its metadata and why it ended. */
export function takeEnding(ending: Fields, builder: ResponseBuilder): void {
  builder.usage(readUsage(ending['usage']));
  builder.facts({ providerMetadata: getMetadata(ending) });
  takeFinishReason(readReason(ending['finishReason']), builder);
}

/**
 * Takes the end of a stream. Some packages write an end of their own when the connection closes: if it has neither the
 * provider's word for the reason nor usage, the provider never finished, and the answer broke off.
 */
export function takeStreamEnding(ending: Fields, builder: ResponseBuilder): void {
  const { word, rawWord } = readReason(ending['finishReason']);
  if (vagueWords.has(word) && rawWord === undefined && !isReported(ending['usage'])) builder.finish('interrupted');
  else takeEnding(ending, builder);
}
