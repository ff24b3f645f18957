// A participant: somebody who can take a turn.
// Owns:     its name, and how it comes to its words.
// Does not: choose whose turn it is, judge whether to go on, or keep anything between turns: all it needs is in the conversation.
import type { Failure } from '../errors/index.ts';
import type { Capability } from '../hooks/index.ts';
import type { PriceOf } from '../inference/index.ts';
import type { Json, JsonObject } from '../lib/index.ts';
import { InvalidArgumentError, isRecord, omitUndefined } from '../lib/index.ts';
import type { Part } from '../messages/index.ts';
import type { Answer, Ports, StepScope, Wait } from '../step-by-step/index.ts';
import type { ChatStep, InnerRun, ParticipantWindow, TurnMemo, UnfinishedTurn } from './chat-step.ts';
import type { ParticipantKind } from './participant-kind.ts';
import type { TurnState } from './turn-state.ts';

/** A participant as others know it. */
export interface ParticipantInfo {
  readonly name: string;
  readonly kind: ParticipantKind;
  /** What it is good for, in words for whoever chooses. */
  readonly description?: string;
}

declare const takes: unique symbol;

/** Somebody who can take a turn. Make one with llmParticipant(), agentParticipant(), humanParticipant() and their like. */
export interface Participant<in Context = unknown> extends ParticipantInfo {
  /** Takes its place in one conversation. */
  readonly join: (table: Table) => Seat;
  /** False for one into whose hands nothing can be put. @default true */
  readonly takesEquipment?: boolean;
  /** Carries the type and nothing else. */
  readonly [takes]?: (context: Context) => void;
}

/** The conversation that a participant joins. */
export interface Table {
  readonly participants: readonly ParticipantInfo[];
  readonly ports: Omit<Ports, 'events'>;
  /** What usage costs, for those who do not know it themselves. */
  readonly price: PriceOf | undefined;
  readonly watchesCost: boolean;
  /** Whether models are told where they are, and with whom. */
  readonly introduces: boolean;
  /** What will be put into a participant's hands in each turn: to be checked when it joins. */
  readonly sample: (participant: string) => Capability | undefined;
}

/** A participant in its place. */
export interface Seat extends ParticipantInfo {
  readonly needsContext: boolean;
  /** What it is made of, for the fingerprint of the conversation. */
  readonly configuration: JsonObject;
  /** Takes the turn, or goes on with one that had to wait. What it throws makes a failed turn. */
  speak(turn: Turn): Promise<Spoken>;
  readonly toolNames?: readonly string[];
  /** What is wrong with the arguments for one of its tools; undefined where they fit, or where the tool is not its own. */
  checkArgs?(toolName: string, args: unknown, agent?: string): Promise<string | undefined>;
}

/** What somebody who is no model said, read. */
export type Reading =
  { readonly ok: true; readonly text: string; readonly acts?: readonly JsonObject[] } | { readonly ok: false; readonly problem: string };

/** What a turn is taken with. */
export interface Turn {
  readonly state: TurnState;
  readonly scope: StepScope;
  /** The step as it was parked, where it is taken up again. */
  readonly parked: ChatStep | undefined;
  readonly answers: readonly Answer[];
  /** Reads what somebody said who is no model. */
  readonly read: (said: unknown) => Reading;
  /** Tools and words for this turn alone. */
  readonly equipment: Capability | undefined;
  /** What a person is shown of what may be decided, kept with the question. */
  readonly shown: Json | undefined;
  /** What a person is told who is asked for words without a prompt. */
  readonly hint: string | undefined;
  /** Reports what a function of the host's threw, with its stack. */
  readonly report: (error: unknown) => void;
}

/** What a turn came to. */
export type Spoken =
  | {
      readonly type: 'said';
      readonly role: 'user' | 'assistant';
      readonly parts: readonly Part[];
      readonly errors?: readonly Failure[];
      readonly finishReason?: string | undefined;
      /** True where the turn ended before anything was said, because the run around it has to end. */
      readonly isCutOff?: boolean;
      readonly inner?: InnerRun;
      readonly window?: ParticipantWindow | undefined;
      /** What was called and answered; kept where the turn did not come to its end. */
      readonly unfinished?: UnfinishedTurn | undefined;
      /** What was done beside the words. */
      readonly acts?: readonly JsonObject[];
    }
  | {
      readonly type: 'waiting';
      readonly waits: readonly Wait[];
      readonly memo: TurnMemo;
      readonly inner?: InnerRun;
    };

const nameForm = /^[\p{L}\p{N}][\p{L}\p{N}_.-]{0,63}$/u;

/** Refuses a name that others could not use, and options that there are not. */
export function checkParticipant(maker: string, options: unknown, known: readonly string[]): void {
  if (!isRecord(options)) throw new InvalidArgumentError(`${maker}() needs options: at least { name }.`);
  const { name, description } = options;
  if (typeof name !== 'string' || !nameForm.test(name))
    throw new InvalidArgumentError(
      `${maker}() needs a name of 1 to 64 letters, digits, "_", "-" or ".", which begins with a letter or a digit; not ${name === undefined ? 'nothing' : JSON.stringify(name)}.`,
    );
  const all = ['name', 'description', ...known];
  const strange = Object.keys(options).find((each) => !all.includes(each));
  if (strange !== undefined) throw new InvalidArgumentError(`${maker}() has no option "${strange}"; there are ${all.join(', ')}.`);
  if (description !== undefined && typeof description !== 'string')
    throw new InvalidArgumentError(`${maker}(): description must be text, in words for whoever chooses the next speaker.`);
}

type PartialInfo = Pick<ParticipantInfo, 'name' | 'kind'> & { readonly description?: string | undefined };

/** The public part of a participant. */
export const toInfo = ({ name, kind, description }: PartialInfo): ParticipantInfo => omitUndefined({ name, kind, description });

/** Creates a participant from its own part of a seat. */
export function createParticipant(given: ParticipantInfo, join: (table: Table) => Omit<Seat, keyof ParticipantInfo>): Participant {
  const info = toInfo(given);
  return {
    ...info,
    join: (table) => {
      const seat = join(table);
      return { ...info, ...seat, configuration: { ...info, ...seat.configuration } };
    },
  };
}

/** Refuses a time that is none. */
export function checkTimeout(maker: string, timeoutMs: unknown): void {
  if (timeoutMs !== undefined && !(typeof timeoutMs === 'number' && timeoutMs > 0))
    throw new InvalidArgumentError(`${maker}(): timeoutMs must be a number above 0, or Infinity.`);
}
