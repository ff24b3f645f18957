import type { JsonObject } from '../../lib/index.ts';
import { isRecord } from '../../lib/index.ts';

/** What a critic thinks of an answer. */
export interface Verdict {
  readonly approved: boolean;
  readonly summary: string;
  readonly strengths: readonly string[];
  readonly weaknesses: readonly string[];
  readonly suggestions: readonly string[];
}

/** A verdict, or why what the critic said is none. */
export type ReadVerdict = { readonly ok: true; readonly verdict: Verdict } | { readonly ok: false; readonly problem: string };

const texts = (description: string): JsonObject => ({ type: 'array', items: { type: 'string' }, description });

/** What the critic is asked for. Nothing in it is left open, as the strictest providers want it. */
export const verdictSchema: JsonObject = {
  type: 'object',
  properties: {
    approved: { type: 'boolean', description: 'Whether the user can be given this answer as it is.' },
    summary: { type: 'string', description: 'The verdict in one sentence.' },
    strengths: texts('What is good about the answer.'),
    weaknesses: texts('What is wrong with it; empty where it is approved.'),
    suggestions: texts('What has to change; empty where it is approved.'),
  },
  required: ['approved', 'summary', 'strengths', 'weaknesses', 'suggestions'],
  additionalProperties: false,
};

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

// Models like to put a fence or a few words around their JSON.
function objectIn(text: string): unknown {
  return parsed(text) ?? parsed(text.slice(text.indexOf('{'), text.lastIndexOf('}') + 1));
}

const isAbsent = (given: unknown): boolean => given === undefined || given === null;

/** The texts of a list; a single text stands for a list of one. Undefined where it is neither. */
function textsOf(given: unknown): readonly string[] | undefined {
  if (isAbsent(given)) return [];
  const list: readonly unknown[] = Array.isArray(given) ? given : [given];
  return list.every((item) => typeof item === 'string') ? list.filter((item) => item.trim() !== '') : undefined;
}

const wrong = (problem: string): ReadVerdict => ({ ok: false, problem });

/** Reads a verdict out of what a critic said. Fields that are missing are empty, except for the one that counts. */
export function readVerdict(text: string): ReadVerdict {
  const data = objectIn(text);
  if (text.trim() === '') return wrong('it said nothing');
  if (!isRecord(data) || Array.isArray(data)) return wrong('what it said is no JSON object');
  const { approved, summary } = data;
  if (typeof approved !== 'boolean') return wrong('its "approved" is neither true nor false');
  if (!isAbsent(summary) && typeof summary !== 'string') return wrong('its "summary" is no text');
  const [strengths, weaknesses, suggestions] = [data['strengths'], data['weaknesses'], data['suggestions']].map(textsOf);
  if (strengths === undefined || weaknesses === undefined || suggestions === undefined)
    return wrong('its strengths, weaknesses and suggestions are not all lists of texts');
  return {
    ok: true,
    verdict: { approved, summary: typeof summary === 'string' ? summary.trim() : '', strengths, weaknesses, suggestions },
  };
}
