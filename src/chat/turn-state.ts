// The state of a conversation in which several take turns.
// Owns:     who has said what, and who had which turn: both are read from messages and steps, nothing is kept twice.
// T1. Every turn that was taken left exactly one message under its participant's name, an empty one where nothing was said.
// T2. A message without a participant's name came from outside.
import type { IdSource } from '../lib/index.ts';
import { counted } from '../lib/index.ts';
import type { Message } from '../messages/index.ts';
import type { ExplainStateOptions, PendingStep } from '../step-by-step/index.ts';
import { RunState } from '../step-by-step/index.ts';
import type { ChatStep, InnerRun } from './chat-step.ts';

/** Something that was said, and by whom. */
export interface SpokenTurn {
  /** Absent for what came from outside. */
  readonly speaker?: string;
  readonly text: string;
}

/** Marks a message as a turn of a participant. */
const turnMark = 'turn';

/** The metadata of a message that is a turn of a participant. */
export const turnMetadata: { readonly turn: true } = { [turnMark]: true };

/** Who said this; undefined for what came from outside. */
export const speakerOf = ({ name, metadata }: Message): string | undefined => (metadata[turnMark] === true ? name : undefined);

function selectionLine({ selection, participant }: ChatStep): readonly string[] {
  if (selection === undefined || participant === undefined) return participant === undefined ? [] : [`It was the turn of ${participant}.`];
  const { by, reason, problem } = selection;
  const told = problem === undefined ? '' : ` ${problem}`;
  return [`It was the turn of ${participant}, by ${by}${reason === undefined ? '' : `: ${reason.replace(/\.$/, '')}`}.${told}`];
}

// Whose turn it is stands in the headline already.
function waitingLine({ selection }: ChatStep): readonly string[] {
  const { by = '', reason, problem } = selection ?? {};
  if (reason === undefined && problem === undefined) return [];
  return [
    `The turn was given by ${by}${reason === undefined ? '' : `: ${reason.replace(/\.$/, '')}`}.${problem === undefined ? '' : ` ${problem}`}`,
  ];
}

function innerLine({ orchestrator, stepCount, stopReason, outcome }: InnerRun): readonly string[] {
  if (stopReason === undefined || outcome === undefined) return [];
  return [`The run inside it (${orchestrator}) ended after ${counted(stepCount, 'step')}: ${stopReason}, by ${outcome.resolvedBy}.`];
}

/** Base of the states of chats and collaborations. */
export class TurnState<S extends ChatStep = ChatStep> extends RunState<S> {
  /** Everything that was said, oldest first. */
  get transcript(): readonly SpokenTurn[] {
    return this.messages.toArray().map((message) => {
      const speaker = speakerOf(message);
      return { ...(speaker !== undefined && { speaker }), text: message.text };
    });
  }

  /** Whose turn it is, or was last in this execution; undefined before the first. */
  get participant(): string | undefined {
    return this.pendingStep?.partial.participant ?? this.currentStep?.participant;
  }

  /** The last words of a participant in this execution; empty where nothing was said. */
  override get text(): string {
    return this.#lastWords?.text ?? '';
  }

  /** Who said `text`; undefined where nothing was said. */
  get speaker(): string | undefined {
    return this.#lastWords?.name;
  }

  get #lastWords(): Message | undefined {
    return this.steps.flatMap(({ outputMessages }) => outputMessages).findLast(({ text }) => text !== '');
  }

  /** Who has spoken since the last word from outside. */
  get spokenSinceInput(): ReadonlySet<string> {
    const { messages } = this;
    const spoken = new Set<string>();
    for (let index = messages.length - 1; index >= 0; index -= 1) {
      const message = messages.at(index);
      const speaker = message === undefined ? undefined : speakerOf(message);
      if (speaker === undefined) break;
      spoken.add(speaker);
    }
    return spoken;
  }

  override explain(options: ExplainStateOptions = {}): string {
    const words = super.explain(options);
    const step = this.pendingStep?.partial ?? (this.startOutcome === undefined ? this.currentStep : undefined);
    if (step === undefined || this.status === 'pending') return words;
    const [headline = '', ...votes] = words.split('\n');
    if (this.pendingStep !== undefined) return [headline, ...waitingLine(step), ...votes].join('\n');
    const inner = step.inner === undefined ? [] : innerLine(step.inner);
    return [headline, ...selectionLine(step), ...inner, ...votes].join('\n');
  }

  override closePendingStep({ partial }: PendingStep<S>, _why: 'superseded' | 'interrupted', _ids?: IdSource): S {
    // What the run inside needed to go on is of no use any more.
    const { memo: _, ...step } = partial;
    // Holds: nothing but the memo was taken out, and that may be absent.
    return step as S;
  }
}

/** All steps of the session, newest first, the ones of earlier executions too. */
export function* stepsBackwards<S extends ChatStep>({ execution, data }: TurnState<S>): Generator<S, void, undefined> {
  for (const { results } of [execution, ...data.past.toArray().toReversed()])
    for (let index = results.length - 1; index >= 0; index -= 1) {
      const step = results.at(index)?.step;
      if (step !== undefined) yield step;
    }
}

// A turn that was cut off before anything was said was not taken; one that was given up for a message was.
const wasTaken = ({ interrupted, outputMessages }: ChatStep): boolean =>
  interrupted === undefined || interrupted === 'superseded' || outputMessages.length > 0;

/** Who had the last turn of the session; a failed turn counts, one that was cut off before a word does not. */
export function lastSpeaker(state: TurnState): string | undefined {
  for (const step of stepsBackwards(state)) if (step.participant !== undefined && wasTaken(step)) return step.participant;
  return undefined;
}
