// The waits of a whole payload. They are shown with their digests, so the stored step does not repeat them: a wait of the step, and the
// call that it is about, are the number of the wait in `waiting_for`.
import type { Json, JsonObject } from '../../lib/index.ts';
import { DamagedDataError, isList, isRecord, jsonEquals, present } from '../../lib/index.ts';
import type { Wait } from '../../step-by-step/index.ts';
import { getWaitDigest } from '../../step-by-step/index.ts';
import type { AgentState } from '../agent-state.ts';
import type { ReadWholeWait, WholeSlimWait } from './slim-wait.ts';
import { toStoredWait, writeWholeWait } from './slim-wait.ts';

const toObject = (value: Json | undefined): JsonObject => (isRecord(value) ? value : {});

/** Applies a change to each item of a list, if it is one. */
const mapList = (value: Json | undefined, change: (item: Json) => Json): Json => (isList(value) ? value.map(change) : (value ?? []));

/** Applies changes to the waits of a stored execution, and to the parts of the open step's messages. */
function mapPendingStep(execution: JsonObject, changeWait: (wait: Json) => Json, changePart: (part: Json) => Json): JsonObject {
  const { pendingStep } = execution;
  if (!isRecord(pendingStep)) return execution;
  const partial = toObject(pendingStep['partial']);
  const changeMessage = (message: Json): Json =>
    isRecord(message) && isList(message['parts']) ? { ...message, parts: mapList(message['parts'], changePart) } : message;
  const messages = mapList(partial['messages'], changeMessage);
  return {
    ...execution,
    pendingStep: { ...pendingStep, partial: { ...partial, messages }, waits: mapList(pendingStep['waits'], changeWait) },
  };
}

/** The part of a message that holds the call of a stored wait. */
const toCallPart = ({ id, toolName, args }: JsonObject): JsonObject => present({ type: 'tool-call', toolCallId: id, toolName, args });

/** Shows the open waits of a state, and takes them out of its stored execution. */
export function splitWaits(
  execution: JsonObject,
  state: AgentState,
): { readonly execution: JsonObject; readonly shown: readonly WholeSlimWait[] } {
  const write = (stored: JsonObject, wait: Wait): WholeSlimWait => writeWholeWait(stored, getWaitDigest(state, wait));
  // A grant is read from the last outcome; a crash loop hides what the step waits for.
  if (state.pendingStep === undefined || state.execution.crashLoop !== undefined)
    return { execution, shown: state.waitingFor.map((wait) => write(present({ ...wait }), wait)) };
  const all = toObject(execution['pendingStep'])['waits'];
  const open = state.waitingFor.flatMap((wait) => {
    const stored = isList(all) ? all.find((each) => isRecord(each) && each['id'] === wait.id) : undefined;
    return isRecord(stored) ? [{ wait, stored }] : [];
  });
  const replace = (value: Json, toValue: (stored: JsonObject) => JsonObject): Json => {
    const place = open.findIndex(({ stored }) => jsonEquals(toValue(stored), value));
    return place === -1 ? value : place;
  };
  return {
    execution: mapPendingStep(
      execution,
      (wait) => replace(wait, (stored) => stored),
      (part) => replace(part, toCallPart),
    ),
    shown: open.map(({ stored, wait }) => write(stored, wait)),
  };
}

/** Puts the waits of a payload back into the stored execution. */
export function joinWaits(execution: JsonObject, shown: readonly ReadWholeWait[]): JsonObject {
  const restore = (value: Json, toValue: (stored: JsonObject) => JsonObject): Json => {
    if (typeof value !== 'number') return value;
    const wait = shown[value];
    if (wait !== undefined) return toValue(toStoredWait(wait));
    throw new DamagedDataError('waiting_for', `wait ${String(value)} of the open step is missing`);
  };
  return mapPendingStep(
    execution,
    (wait) => restore(wait, (stored) => stored),
    (part) => restore(part, toCallPart),
  );
}
