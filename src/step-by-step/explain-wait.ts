// Waits in words, and what to do about them.
import type { LimitKind } from '../continuation/index.ts';
import { adviceByCode } from '../errors/index.ts';
import { assertNever, listSome, toShownText } from '../lib/index.ts';
import type { CrashLoop } from './execution.ts';
import type { Wait } from './waiting.ts';

const grantNames: Readonly<Record<LimitKind, string>> = {
  steps: 'steps',
  tokens: 'tokens',
  wall: 'run time',
  active: 'active time',
  cost: 'money',
};

const grantFields: Readonly<Record<LimitKind, string>> = {
  steps: 'steps',
  tokens: 'tokens',
  wall: 'wallMs',
  active: 'activeMs',
  cost: 'costUsd',
};

/** Number of waits that a headline has room for. */
const mostWaits = 8;

export const toIso = (time: number): string => (Math.abs(time) <= 8.64e15 ? new Date(time).toISOString() : String(time));

/** Describes the provider that is down, and when it is tried again. */
function describeProvider({ since, reason, nextTryAt, giveUpAt }: Extract<Wait, { readonly type: 'provider' }>): string {
  return `the provider, which has been down since ${toIso(since)} (${toShownText(reason)}): next try at ${toIso(nextTryAt)}, last try at ${toIso(giveUpAt)}`;
}

/** Describes a wait; `turn` is the participant whose turn the headline names. */
export function describeWait(wait: Wait, turn?: string): string {
  const asker = wait.agent === undefined || wait.agent === turn ? '' : ` for ${toShownText(wait.agent)}`;
  const problem = wait.problem === undefined ? '' : `, after an answer that could not be used: ${toShownText(wait.problem)}`;
  const prompt = wait.type === 'person' && wait.prompt !== undefined ? `: ${toShownText(wait.prompt)}` : '';
  const end = `(${toShownText(wait.id)})${asker}`;
  switch (wait.type) {
    case 'approval':
      return `approval of ${toShownText(wait.toolName)} ${end}${wait.reason === undefined ? '' : `: ${toShownText(wait.reason)}`}${problem}`;
    case 'client-tool':
      return `the output of ${toShownText(wait.toolName)} ${end}${problem}`;
    case 'unknown-call':
      return `the true result of ${toShownText(wait.toolName)} ${end}, which was cut off and may or may not have taken effect${problem}`;
    case 'person':
      if (wait.reason === 'crash-loop') return 'a person';
      return `${wait.participant === undefined ? 'an answer from a person' : `an answer from ${toShownText(wait.participant)}`} ${end}${prompt}${problem}`;
    case 'provider':
      return describeProvider(wait);
    case 'grant':
      return `more ${grantNames[wait.limit]}${problem}`;
    default:
      return assertNever(wait);
  }
}

/** Describes all waits of a headline. */
export const describeWaits = (waits: readonly Wait[], turn?: string): string =>
  listSome(
    waits.map((wait) => describeWait(wait, turn)),
    mostWaits,
    '; ',
  );

/** Returns what to do about the first wait. */
export function getWaitAction(wait: Wait): string {
  const id = `"${toShownText(wait.id)}"`;
  switch (wait.type) {
    case 'approval':
      return `Approve or reject ${id}.`;
    case 'client-tool':
      return `Run the call and answer ${id} with its output.`;
    case 'unknown-call':
      return `Find out what the call did, and answer ${id} with its true result.`;
    case 'person':
      return wait.reason === 'crash-loop' ? adviceByCode['crash-loop'] : `Answer ${id}.`;
    case 'provider':
      return 'Wait for the next try, or retry now.';
    case 'grant':
      return `Grant more with grant({ ${grantFields[wait.limit]} }), or reject ${id} to end the run.`;
    default:
      return assertNever(wait);
  }
}

/** Describes a step that ended the process each time it was resumed. */
export function describeCrashLoop(stepNumber: number, { attempts, since }: CrashLoop): string {
  const times = attempts === 1 ? 'once, and the process ended again' : `${attempts} times, and the process ended each time`;
  const what = attempts === 0 ? 'the process ended in this step' : `the process ended in this step; it was resumed ${times}`;
  return `Waiting in step ${stepNumber} for a person since ${toIso(since)}: ${what}.`;
}
