// Fields of an event that repeat those of another event of its commit.
// R1. They are not written if they follow from the other event, and are put back when the event is read.
import { findDecisiveEvaluation } from '../../continuation/index.ts';
import type { JsonObject } from '../../lib/index.ts';
import { isRecord, jsonEquals, omitUndefined, readField } from '../../lib/index.ts';
import { toDecisiveFields } from '../../step-by-step/index.ts';

type Fields = Readonly<Record<string, unknown>>;

/** Events of a commit that others repeat, by their step. */
export type RelatedEvents = ReadonlyMap<string, Fields>;

/** Types of events that others repeat. */
const repeated = new Set(['InferenceStarted', 'ContinuationEvaluated']);

/** True for an event that others may repeat: they are read with it. */
export const isRepeated = ({ type }: Fields): boolean => repeated.has(String(type));

const toKey = (type: string, { agentId, executionId, stepNumber }: Fields): string =>
  `${type}\n${String(agentId)}\n${String(executionId)}\n${String(stepNumber)}`;

/** Finds the events of a commit that others repeat. Of several models that were asked in a step, the first counts. */
export function indexRelated(events: readonly Fields[]): RelatedEvents {
  const found = new Map<string, Fields>();
  for (const event of events) {
    const key = isRepeated(event) ? toKey(String(event['type']), event) : '';
    if (key !== '' && !found.has(key)) found.set(key, event);
  }
  return found;
}

const isEvaluation = (
  value: unknown,
): value is { readonly criterion: string; readonly decision: string; readonly reason: string; readonly context: JsonObject } =>
  ['criterion', 'decision', 'reason'].every((key) => typeof readField(value, key) === 'string') && isRecord(readField(value, 'context'));

function getDecisiveFields(outcome: unknown): Fields {
  const [decision, resolvedBy, evaluations] = ['decision', 'resolvedBy', 'evaluations'].map((key) => readField(outcome, key));
  if (typeof decision !== 'string' || typeof resolvedBy !== 'string' || !Array.isArray(evaluations)) return {};
  const decisive = findDecisiveEvaluation({ decision, resolvedBy, evaluations: evaluations.filter(isEvaluation) });
  return decisive === undefined ? {} : { ...toDecisiveFields(decisive) };
}

// Most events repeat nothing: nothing is made for them.
const noFields: Fields = Object.freeze({});
const noNames: readonly string[] = Object.freeze([]);

const findRelated = (event: Fields, related: RelatedEvents, type: string): Fields => related.get(toKey(type, event)) ?? noFields;

/** Returns the fields of an event that follow from another one of its commit. */
export function getRelatedFields(event: Fields, related: RelatedEvents): Fields {
  switch (event['type']) {
    case 'AgentStepStarted':
      return omitUndefined({ tools: findRelated(event, related, 'InferenceStarted')['tools'] });
    case 'AgentStepCompleted': {
      const { shouldContinue, stopReason, resolvedBy } = findRelated(event, related, 'ContinuationEvaluated');
      return omitUndefined({ shouldContinue, stopReason, resolvedBy });
    }
    case 'AgentFailed':
    case 'AgentFinished':
      if (event['stopReason'] === undefined) return noFields;
      return getDecisiveFields(findRelated(event, related, 'ContinuationEvaluated')['outcome']);
    default:
      return noFields;
  }
}

/** Names the fields of an event that follow from another one of its commit, and need not be written. */
export function listRelatedNames(event: Fields, related: RelatedEvents): readonly string[] {
  const fields = getRelatedFields(event, related);
  return fields === noFields ? noNames : Object.keys(fields).filter((key) => jsonEquals(fields[key], event[key]));
}
