// Requests as they are stored.
// Owns:     the form of an agent's definition, and of a request that says only what the definition and the conversation do not.
// Does not: store anything, or know where a conversation is kept: an engine passes a recorder to the run.
import type { JsonObject } from '../lib/index.ts';
import { getKnownForm, markCanonical } from '../lib/index.ts';
import type { Messages, OfferedTool } from '../messages/index.ts';
import type { OpenRequest } from './conversation.ts';
import type { ModelSettings } from './model-settings.ts';
import type { ModelOutcome, OutputFormat } from './model.ts';

/** Everything that the requests of an agent have in common. Plain JSON; without headers, which may hold secrets. */
export interface AgentDefinition {
  readonly agent: { readonly id?: string; readonly version?: string; readonly fingerprint: string };
  /** As `provider/model`. */
  readonly model: string;
  readonly fallbacks?: readonly string[];
  readonly driver: string;
  /** In the order in which the model reads them; null stands for those that are created for each step. */
  readonly instructions: readonly (string | null)[];
  readonly tools: readonly OfferedTool[];
  readonly settings: ModelSettings;
  readonly output?: OutputFormat;
}

/** A request as it is stored: its digest, and what differs from the definition and the conversation. */
export interface StoredRequest {
  /** Digest of the definition. */
  readonly definition: string;
  /** Digest of the whole request: messages, tools, settings without headers, and the form of the answer. */
  readonly digest: string;
  /** Name of a second request of the same step. */
  readonly purpose?: string;
  /** Run inside the step that sent it. */
  readonly inside?: string;
  /** Participant whose view of the conversation the messages continue. */
  readonly view?: string;
  /** Instructions that were created for this request, in their order. */
  readonly made?: readonly string[];
  /** The message with the instructions, if it is another one; null if there was none. */
  readonly system?: JsonObject | null;
  /** All messages after the instructions, if nothing is known that they continue. */
  readonly messages?: readonly JsonObject[];
  /** Messages that stand in the place of others: of the conversation, or of the request before in a run inside the step. */
  readonly changed?: { readonly at: number; readonly removed: number; readonly added: readonly JsonObject[] };
  /** By name, or whole if the definition has no such tool. */
  readonly tools?: readonly (string | OfferedTool)[];
  readonly settings?: ModelSettings;
  /** Null if no form was asked for. */
  readonly output?: OutputFormat | null;
}

/** A request that is about to be sent. */
export interface RecordableRequest {
  readonly request: Pick<OpenRequest, 'messages' | 'tools' | 'settings' | 'output'>;
  readonly definition: AgentDefinition;
  /** Instructions that were created for it. */
  readonly made: readonly string[];
  readonly purpose: string | undefined;
}

/** The conversation at the start of a run inside a step, which the state can tell. */
export interface KnownView {
  readonly participant: string;
  readonly messages: Messages;
}

/** Records the requests of a run for an engine that stores them. */
export interface RequestRecorder {
  /** Describes a request that is about to be sent, or that an earlier process sent before it ended in the step. */
  describe(asked: RecordableRequest): StoredRequest;
  /** Keeps a request that was sent. `journaled` is what the earlier process kept of it. */
  add(sent: StoredRequest, journaled?: JournaledRequest): void;
  /** Creates the recorder of a run inside the open step. */
  openInside(key: string, view: KnownView | undefined): RequestRecorder;
}

/** Part of a request that is journaled with its answer, so that a replay knows what was really sent. The messages may be too large for it. */
type JournaledRequest = Omit<StoredRequest, 'messages' | 'changed'>;

/** An outcome with the request that led to it, if that is recorded. */
export type RecordedOutcome = ModelOutcome & { readonly sent?: JournaledRequest };

/** Adds the request to its outcome. */
export function withSent(outcome: ModelOutcome, { messages: _, changed: __, ...sent }: StoredRequest): RecordedOutcome {
  const recorded: RecordedOutcome = { ...outcome, sent: Object.freeze(sent) };
  // A usual request is two texts, so that an answer which needs no check still needs none.
  const isKnown = getKnownForm(outcome) !== undefined && Object.values(sent).every((value) => typeof value === 'string');
  return isKnown ? markCanonical(recorded, 'model-outcome') : recorded;
}

/** Returns settings without headers; the same settings if there are none. */
export function omitHeaders(settings: ModelSettings): ModelSettings {
  if (settings.headers === undefined) return settings;
  const { headers: _, ...rest } = settings;
  return rest;
}
