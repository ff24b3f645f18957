// The state of a conversation in which several take turns.
// Owns:     who has said what, and who had which turn: both are read from messages and steps, nothing is kept twice.
// T1. Every turn that was taken left exactly one message under its participant's name, an empty one if nothing was said.
// T2. A message that is not marked as a turn came from outside, whatever name it has.
import { describeTurn, summarizeTurn } from './explain-turn.ts';
import type { IdSource } from '../lib/index.ts';
import { omitUndefined } from '../lib/index.ts';
import type { MessageContent } from '../messages/index.ts';
import { Message } from '../messages/index.ts';
import type { PendingStep, StepResult, StepSummary } from '../step-by-step/index.ts';
import { RunState } from '../step-by-step/index.ts';
import type { ChatStep, UnfinishedTurn } from './chat-step.ts';
import { closeTurn } from './inner-record.ts';

/** Words and their speaker. */
export interface SpokenTurn {
  /** Absent if they came from outside. */
  readonly speaker?: string;
  readonly text: string;
}

/** Marks a message as a turn of a participant. */
const turnMark = 'turn';

/** The metadata of a message that is a turn of a participant. */
export const turnMetadata: { readonly turn: true } = { [turnMark]: true };

/** Returns the speaker of a message; undefined if it came from outside. */
export const getSpeaker = ({ name, metadata }: Message): string | undefined => (metadata[turnMark] === true ? name : undefined);

/** Base of the states of chats and collaborations. */
export class TurnState<S extends ChatStep = ChatStep> extends RunState<S> {
  /** Everything that was said, oldest first. */
  get transcript(): readonly SpokenTurn[] {
    return this.messages.toArray().map((message) => {
      const speaker = getSpeaker(message);
      return omitUndefined({ speaker, text: message.text });
    });
  }

  /** Participant whose turn it is, or was last in this execution; undefined before the first. */
  get participant(): string | undefined {
    return this.pendingStep?.partial.participant ?? this.currentStep?.participant;
  }

  /** Last text of a participant in this execution; empty if nothing was said. */
  override get text(): string {
    return this.#lastWords?.text ?? '';
  }

  /** Speaker of `text`; undefined if nothing was said. */
  get speaker(): string | undefined {
    return this.#lastWords?.name;
  }

  get #lastWords(): Message | undefined {
    return this.steps.flatMap(({ outputMessages }) => outputMessages).findLast(({ text }) => text !== '');
  }

  /** Participants who have spoken since the last input. */
  get spokenSinceInput(): ReadonlySet<string> {
    const speakers = this.messages.map(getSpeaker);
    return new Set(speakers.slice(speakers.lastIndexOf(undefined) + 1).filter((name) => name !== undefined));
  }

  override summarizeResult({ step }: StepResult<S>): StepSummary {
    return summarizeTurn(step);
  }

  override describeTurn(): readonly string[] {
    const step = this.pendingStep?.partial ?? this.currentStep;
    return step === undefined ? [] : describeTurn(step, this.pendingStep === undefined);
  }

  /** Adds a message from outside. A message that claims to be a participant's turn is added as an outside message. */
  override withUserMessage(content: MessageContent | Message, options: { readonly ids?: IdSource } = {}): this {
    if (!(content instanceof Message) || content.metadata[turnMark] === undefined) return super.withUserMessage(content, options);
    const { [turnMark]: _, ...metadata } = content.metadata;
    return super.withUserMessage(new Message({ ...content, metadata }), options);
  }

  override closePendingStep({ partial }: PendingStep<S>, why: 'superseded' | 'interrupted', ids?: IdSource): S {
    return closeTurn(partial, { why, at: this.messages.length, ids });
  }
}

/** Returns the id of the last message from outside. */
export const getLastInput = ({ messages }: TurnState): string | undefined =>
  messages.toArray().findLast((message) => getSpeaker(message) === undefined)?.id;

/** Lists all results of the session, newest first, those of earlier executions too. */
function* listResultsBackwards<S extends ChatStep>({ execution, data }: TurnState<S>): Generator<StepResult<S>, void, undefined> {
  for (const { results } of [execution, ...data.past.toArray().toReversed()]) yield* results.toArray().toReversed();
}

/** Lists all steps of the session, newest first, those of earlier executions too. */
export function* listStepsBackwards<S extends ChatStep>(state: TurnState<S>): Generator<S, void, undefined> {
  for (const { step } of listResultsBackwards(state)) yield step;
}

// A turn that was cut off was not taken, and neither was one that failed and is to be tried again, or whose failure ended the run:
// whoever had it has it again. One that was given up for a message was taken; and one that failed but did not end the run.
export function wasTaken({ step, shouldContinue, handling }: StepResult<ChatStep>): boolean {
  if (step.errors.length > 0 && (!shouldContinue || handling?.decision === 'retry')) return false;
  return step.interrupted === undefined || step.interrupted === 'superseded';
}

/** Lists the calls of the turns that this participant did not complete, since the last one that it did. */
export function getUnfinishedTurns(state: TurnState, participant: string): readonly UnfinishedTurn[] {
  const found: UnfinishedTurn[] = [];
  for (const { step } of listResultsBackwards(state)) {
    if (step.participant !== participant) continue;
    if (step.errors.length === 0 && step.interrupted === undefined) break;
    if (step.unfinished !== undefined) found.unshift(step.unfinished);
  }
  return found;
}

/** Returns who had the last turn of the session, among those who still take part. */
export function getLastSpeaker(state: TurnState, isHere: (name: string) => boolean = () => true): string | undefined {
  for (const result of listResultsBackwards(state)) {
    const { participant } = result.step;
    if (participant !== undefined && isHere(participant) && wasTaken(result)) return participant;
  }
  return undefined;
}
