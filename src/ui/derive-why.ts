// Why a session is in the state that it is in, and what to do about it.
import type { JsonObject } from '../lib/index.ts';
import { omitUndefined } from '../lib/index.ts';
import type { ViewWait } from './derive-waits.ts';
import { isSnapshotNewer } from './derive-waits.ts';
import { getAuthor, getObject, getText, getTexts } from './fields.ts';
import type { Meter, StepDecision } from './meters.ts';
import { readDecisions, readMeter } from './meters.ts';
import { describePause, describeStop, describeWaits } from './sentences.ts';
import type { ViewState } from './view-state.ts';

/** A person's part in a decision. */
export interface ViewDecider {
  /** Id or name of the person, as the host gave it. */
  readonly id: string;
  /** `cancelled` the run, `granted` more, or `refused` to. */
  readonly action: 'cancelled' | 'granted' | 'refused';
}

/** Why the session is in the state that it is in. */
export interface ViewWhy {
  /** One sentence; empty if nothing is known yet. */
  readonly sentence: string;
  readonly stop_reason?: string;
  /** The criterion that decided. */
  readonly resolved_by?: string;
  /** People who had a part in the decision, the one who decided first. Empty if only rules had. */
  readonly people: readonly ViewDecider[];
  /** The numbers of the criterion that decided. */
  readonly meter?: Meter;
  /** One thing to do, in one sentence; absent if there is nothing to do. */
  readonly next?: string;
  /** The decision after each step, oldest first; of a session that is not whole yet, the newest ones. */
  readonly steps: readonly StepDecision[];
}

/** Names everybody who had a part in an end. */
function findPeople(data: JsonObject): readonly ViewDecider[] {
  const context = getObject(data, 'context') ?? {};
  const refused = getObject(data, 'grant_refused');
  const [cancelledBy, refusedBy] = [getText(context, 'person'), refused && getText(refused, 'by')];
  const byAction = data['cancel_requested'] === true ? getAuthor(data)?.id : undefined;
  const grantedBy = data['granted'] === undefined ? undefined : getAuthor(data)?.id;
  const toDecider = (action: ViewDecider['action'], id: string | undefined): readonly ViewDecider[] =>
    id === undefined ? [] : [{ id, action }];
  return [
    ...toDecider('refused', refusedBy),
    ...toDecider('cancelled', cancelledBy ?? byAction),
    ...toDecider('granted', grantedBy),
    ...getTexts(context, 'grantedBy').flatMap((id) => toDecider('granted', id)),
  ];
}

function describeStatus(data: JsonObject): string {
  const isDone = getText(data, 'status') === 'completed';
  const sentence = getText(data, 'sentence') ?? '';
  return getText(data, 'stop_reason') === undefined || isDone ? sentence : describeStop(data);
}

/** Says what somebody can do about a wait. */
function describeWaitAction({ type, tool = 'the call', participant, reason }: ViewWait): string {
  switch (type) {
    case 'approval':
      return `Approve or reject ${tool}.`;
    case 'client-tool':
      return `Answer with the output of ${tool}.`;
    case 'unknown-call':
      return `Find out what ${tool} did, and answer with its true result.`;
    case 'provider':
      return 'Wait for the next try, or retry now.';
    case 'grant':
      return 'Grant more, or end here.';
    default:
      if (reason === 'crash-loop') return 'Find out what ended the process, then resume or cancel the session.';
      return participant === undefined ? 'Answer the question.' : `Answer for ${participant}.`;
  }
}

/** Says what the session waits for and which rule decided that; nothing if it does not wait, or the status says more. */
function explainWaits(waits: readonly ViewWait[], steps: readonly StepDecision[]): Partial<ViewWhy> {
  const [wait] = waits;
  if (wait?.type !== 'grant') return omitUndefined({ sentence: describeWaits(waits) });
  const last = steps.at(-1);
  const pause = last?.should_continue === false ? last : undefined;
  const meter = pause?.evaluations.find(({ criterion }) => criterion === pause.resolved_by)?.meter;
  return omitUndefined({ sentence: describePause(wait.limit ?? '', meter), resolved_by: pause?.resolved_by, meter });
}

/** Returns why the session is in its state. */
export function deriveWhy(state: ViewState, { status, waits }: { readonly status: string; readonly waits: readonly ViewWait[] }): ViewWhy {
  const { lastStatus, snapshot, list } = state;
  const steps = readDecisions(list);
  const [wait] = waits;
  const awaited = wait && describeWaitAction(wait);
  const explained = status === 'waiting' ? explainWaits(waits, steps) : {};
  if (snapshot !== undefined && isSnapshotNewer(state)) {
    const { sentence = '', stop_reason } = snapshot;
    return omitUndefined({ sentence, stop_reason, people: [], next: awaited, steps, ...explained });
  }
  if (lastStatus === undefined) return omitUndefined({ sentence: '', people: [], next: awaited, steps });
  const { data } = lastStatus;
  const isOver = getText(data, 'status') === status;
  return omitUndefined({
    sentence: describeStatus(data),
    stop_reason: getText(data, 'stop_reason'),
    resolved_by: getText(data, 'resolved_by'),
    people: findPeople(data),
    meter: readMeter(getObject(data, 'context') ?? {}),
    next: awaited ?? (isOver ? getText(data, 'next') : undefined),
    steps,
    ...explained,
  });
}
