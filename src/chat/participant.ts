// A participant: somebody who can take a turn.
// Owns:     its name, and how it comes to its words.
// Does not: select whose turn it is, judge, or keep anything between turns: all it needs is in the conversation.
import type { Failure } from '../errors/index.ts';
import type { Capability } from '../hooks/index.ts';
import type { PriceSource } from '../inference/index.ts';
import type { Json, JsonObject } from '../lib/index.ts';
import { omitUndefined } from '../lib/index.ts';
import type { Part } from '../messages/index.ts';
import type { Answer, Ports, StepScope, Wait } from '../step-by-step/index.ts';
import type { ArgsProblem } from '../tools/index.ts';
import { checkOptions, optionRule } from '../tool-use/index.ts';
import type { ChatStep, InnerRun, ParticipantWindow, TurnMemo, UnfinishedTurn } from './chat-step.ts';
import type { ParticipantKind } from './participant-kind.ts';
import type { TurnState } from './turn-state.ts';

/** A participant as others know it. */
export interface ParticipantInfo {
  readonly name: string;
  readonly kind: ParticipantKind;
  /** Describes its strengths to the model that selects the next speaker. */
  readonly description?: string;
}

declare const takes: unique symbol;

/** A participant that can take turns. Create one with llmParticipant(), agentParticipant(), humanParticipant() and their like. */
export interface Participant<in Context = unknown> extends ParticipantInfo {
  /** Joins one conversation. */
  readonly join: (conversation: ConversationInfo) => JoinedParticipant;
  /** False if it cannot be given tools for a turn. @default true */
  readonly takesEquipment?: boolean;
  /** Carries the type and nothing else. */
  readonly [takes]?: (context: Context) => void;
}

/** The conversation that a participant joins. */
export interface ConversationInfo {
  readonly participants: readonly ParticipantInfo[];
  readonly ports: Omit<Ports, 'events'>;
  /** Prices for participants that have none of their own. */
  readonly price: PriceSource | undefined;
  readonly watchesCost: boolean;
  /** True if models are told that they are in a conversation, and with whom. */
  readonly introduces: boolean;
  /** Sample of the equipment that a participant gets in each turn: to be checked when it joins. */
  readonly sample: (participant: string) => Capability | undefined;
}

/** A participant of one conversation. */
export interface JoinedParticipant extends ParticipantInfo {
  readonly needsContext: boolean;
  /** Its part of the conversation's fingerprint. */
  readonly configuration: JsonObject;
  /** Takes the turn, or resumes one that had to wait. An error makes a failed turn. */
  speak(turn: Turn): Promise<TurnResult>;
  readonly toolNames?: readonly string[];
  /** Describes what is wrong with the arguments for one of its tools; undefined if they fit, or if the tool is not its own. */
  checkArgs?(toolName: string, args: unknown, agent?: string): Promise<ArgsProblem | undefined>;
}

/** Words of somebody who is not a model, parsed. */
export type ParsedWords =
  { readonly ok: true; readonly text: string; readonly changes?: readonly JsonObject[] } | { readonly ok: false; readonly problem: string };

/** Facts and services for one turn. */
export interface Turn {
  readonly state: TurnState;
  readonly scope: StepScope;
  /** The step as it was parked, if the turn is resumed. */
  readonly parked: ChatStep | undefined;
  readonly answers: readonly Answer[];
  /** Parses the words of somebody who is not a model. */
  readonly parse: (said: unknown) => ParsedWords;
  /** Tools and instructions for this turn alone. */
  readonly equipment: Capability | undefined;
  /** Content that a person is asked to decide about; stored with the question. */
  readonly shown: Json | undefined;
  /** Prompt for a person who has none. */
  readonly hint: string | undefined;
  /** Reports an error of a host's function, with its stack. */
  readonly report: (error: unknown) => void;
}

/** Result of a turn. */
export type TurnResult =
  | {
      readonly type: 'said';
      readonly role: 'user' | 'assistant';
      readonly parts: readonly Part[];
      readonly errors?: readonly Failure[];
      readonly finishReason?: string | undefined;
      /** True if the turn ended before anything was said, because the outer run has to end. */
      readonly wasInterrupted?: boolean;
      readonly inner?: InnerRun;
      readonly window?: ParticipantWindow | undefined;
      /** Calls and their results; stored if the turn did not complete. */
      readonly unfinished?: UnfinishedTurn | undefined;
      /** Changes made besides the words. */
      readonly changes?: readonly JsonObject[];
    }
  | {
      readonly type: 'waiting';
      readonly waits: readonly Wait[];
      readonly memo: TurnMemo;
      readonly inner?: InnerRun;
    };

/** Options of every participant. */
export interface ParticipantOptions {
  /** Letters, digits, "_", "-" or "."; others address it by this name. */
  readonly name: string;
  /** Describes its strengths to the model that selects the next speaker. */
  readonly description?: string;
}

const nameForm = /^[\p{L}\p{N}][\p{L}\p{N}_.-]{0,63}$/u;

const { text, callback } = optionRule;

/** Form of a time limit. */
export const timeoutRule: readonly [isValid: (value: unknown) => boolean, wanted: string] = [
  (value: unknown): boolean => typeof value === 'number' && value > 0,
  'a number above 0, or Infinity',
];

const rules = {
  name: [
    (value: unknown) => typeof value === 'string' && nameForm.test(value),
    'a name of 1 to 64 letters, digits, "_", "-" or ".", which begins with a letter or a digit',
  ],
  description: text,
  speak: callback,
  reply: callback,
  prompt: text,
  says: [(value: unknown) => Array.isArray(value) && value.length > 0, 'a list with at least one entry'],
  timeoutMs: timeoutRule,
} as const;

/** Throws if others could not use the name, or if `maker` cannot use one of the options. */
export function checkParticipant(maker: string, options: unknown, own: readonly string[]): void {
  const known = ['name', 'description', ...own];
  checkOptions(maker, options, { rules, known, required: ['name', 'speak', 'says'].filter((option) => known.includes(option)) });
}

/** Returns the public part of a participant. */
export const toParticipantInfo = ({ name, kind, description }: ParticipantInfo): ParticipantInfo =>
  omitUndefined({ name, kind, description });

/** Creates a participant of this kind. */
export function createParticipant(
  kind: ParticipantKind,
  { name, description }: ParticipantOptions,
  join: (conversation: ConversationInfo) => Omit<JoinedParticipant, keyof ParticipantInfo>,
): Participant {
  const info = omitUndefined({ name, kind, description });
  return {
    ...info,
    join: (conversation) => {
      const joined = join(conversation);
      return { ...info, ...joined, configuration: { ...info, ...joined.configuration } };
    },
  };
}

/** Converts a time limit to that of an effect, which has none if it is infinite. */
export const toTimeout = (timeoutMs: number): { readonly timeoutMs?: number } => (timeoutMs === Infinity ? {} : { timeoutMs });
