// Driving a recording
// Owns:     asking, call by call, what the recorded client asked, with our own history of what was answered.
// Does not: judge what comes back; tests do.
// D1. An answer of ours goes into the next request as it came; only what the recorded client added is taken from the recording.
// D2. A failed call ends our history: the next call starts from what the recording says was said.
// D3. Where the next request does not go on from our answer, it is taken from the recording too, and the call says so.
import type { Model, ModelDelta, ModelNotice, ModelOutcome, ModelRequest } from '../../../src/inference/index.ts';
import { Message } from '../../../src/messages/index.ts';
import type { ToolResult } from '../../../src/messages/index.ts';
import type { Interaction, ReceivedRequest, Recording } from '../../../src/testing/node/index.ts';
import { toFields } from './loose.ts';
import type { CallIds } from './next-messages.ts';
import { nextMessages } from './next-messages.ts';
import { parseEvents, isCorrupt, recordedModel, detectWireApi } from '../../../src/testing/node/index.ts';
import type { Wire, WireAnswer, WireConversation } from './wire-conversation.ts';
import { getWire } from './wires.ts';

/** One call of a recording, made again. */
export interface DrivenCall {
  readonly interaction: Interaction;
  readonly isStream: boolean;
  readonly request: ModelRequest;
  readonly outcome: ModelOutcome;
  readonly deltas: readonly ModelDelta[];
  readonly notices: readonly ModelNotice[];
  /** The recorded answer, read without the code under test. */
  readonly answer: WireAnswer;
  /** Request that was really sent; missing if none was. */
  readonly sent?: ReceivedRequest;
  /** The tool results in what went out. */
  readonly sentResults: readonly ToolResult[];
  /** The tool results in what was recorded, under the ids of the replay. */
  readonly recordedResults: readonly ToolResult[];
  /** True if an answer came before, but the request could not go on from it and was taken from the recording as a whole. */
  readonly restarted: boolean;
}

interface Turn {
  readonly restarted: boolean;
  readonly messages: readonly Message[];
  readonly ids: CallIds;
}

function isStreamed({ request, response }: Interaction): boolean {
  if (typeof response.body === 'string') return response.status < 400;
  return request?.body['stream'] === true || /:stream/.test(request?.path ?? '');
}

function decodeAnswer({ response: { body } }: Interaction, wire: Wire): WireAnswer {
  if (typeof body !== 'string') return wire.readAnswer(toFields(body));
  const answer = wire.readAnswer(parseEvents(body).map(toFields));
  return isCorrupt(body) ? { ...answer, isBroken: true } : answer;
}

function decodeConversation({ request }: Interaction, wire: Wire): WireConversation {
  if (request !== undefined) return wire.readConversation(request.body);
  return { messages: [Message.user('Go on.')], tools: [], settings: {} };
}

function resultsIn(messages: readonly Message[], ids: CallIds = new Map()): readonly ToolResult[] {
  return messages
    .flatMap((message) => message.toolResults)
    .map((result) => ({ ...result, toolCallId: ids.get(result.toolCallId) ?? result.toolCallId }));
}

async function ask(model: Model, request: ModelRequest, isStream: boolean): Promise<Pick<DrivenCall, 'outcome' | 'deltas' | 'notices'>> {
  const [deltas, notices]: [ModelDelta[], ModelNotice[]] = [[], []];
  const heard: ModelRequest = { ...request, onNotice: (notice) => notices.push(notice) };
  const outcome = isStream ? await model.stream(heard, (delta) => deltas.push(delta)) : await model.generate(heard);
  return { outcome, deltas, notices };
}

function following(turn: Turn, { outcome }: Pick<DrivenCall, 'outcome'>, next: readonly Message[]): Turn {
  const added = outcome.ok ? nextMessages(turn.messages, outcome.response, next) : undefined;
  if (!outcome.ok || added === undefined) return { restarted: outcome.ok, messages: next, ids: turn.ids };
  return {
    restarted: false,
    messages: [...turn.messages, Message.assistant(outcome.response.parts), ...added.messages],
    ids: new Map([...turn.ids, ...added.ids]),
  };
}

/** Makes every call of a recording again through the real provider package, and tells what went out and what came back. */
export async function driveRecording(recording: Recording, adapt: (model: never) => Model): Promise<readonly DrivenCall[]> {
  const wire = getWire(detectWireApi(recording));
  const model = await recordedModel(recording, { adapt });
  const calls: DrivenCall[] = [];
  let turn: Turn | undefined;
  try {
    for (const interaction of recording.interactions) {
      const recorded = decodeConversation(interaction, wire);
      const last = calls.at(-1);
      turn =
        turn === undefined || last === undefined
          ? { restarted: false, messages: recorded.messages, ids: new Map() }
          : following(turn, last, recorded.messages);
      const request: ModelRequest = { ...recorded, messages: turn.messages };
      const isStream = isStreamed(interaction);
      const before = model.requests.length;
      const asked = await ask(model, request, isStream);
      const sent = model.requests[before];
      calls.push({
        ...asked,
        interaction,
        isStream,
        request,
        answer: decodeAnswer(interaction, wire),
        ...(sent !== undefined && { sent }),
        sentResults: resultsIn(wire.readConversation(toFields(sent?.body)).messages),
        recordedResults: resultsIn(recorded.messages, turn.ids),
        restarted: turn.restarted,
      });
    }
  } finally {
    await model.close();
  }
  return calls;
}
