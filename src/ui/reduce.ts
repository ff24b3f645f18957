// Adds to views.
// U1. Views are equal if they were given the same envelopes, in whatever order and however often.
import type { Envelope } from '../broadcasting/index.ts';
import type { JsonObject } from '../lib/index.ts';
import type { AgentView, ViewGap } from './agent-view.ts';
import { getState, toView } from './agent-view.ts';
import type { SessionSnapshot } from './view-state.ts';
import { StateEdit } from './view-state.ts';

function change(view: AgentView, apply: (edit: StateEdit) => void): AgentView {
  const state = getState(view);
  const edit = new StateEdit(state);
  apply(edit);
  const next = edit.finish();
  return next === state ? view : toView(next);
}

/** Adds an envelope to a view. Returns the same view if it says nothing new. */
export const reduce = (view: AgentView, envelope: Envelope): AgentView => change(view, (edit) => edit.add(envelope));

/** Adds envelopes to a view, in less time than one by one. */
export const reduceAll = (view: AgentView, envelopes: Iterable<Envelope>): AgentView =>
  change(view, (edit) => {
    for (const envelope of envelopes) edit.add(envelope);
  });

/** Adds the envelopes that were fetched for a gap. Numbers in the gap that have no envelope are known to have none. */
export const fillGap = (view: AgentView, gap: Extract<ViewGap, { type: 'events' }>, envelopes: Iterable<Envelope>): AgentView =>
  change(view, (edit) => {
    for (const envelope of envelopes) edit.add(envelope);
    edit.know({ first: gap.after_seq + 1, last: gap.to_seq });
  });

/** Adds the data that was fetched for a message whose text was cut. */
export const fillPayload = (view: AgentView, gap: Extract<ViewGap, { type: 'payload' }>, data: JsonObject): AgentView =>
  change(view, (edit) => {
    const cut = getState(view).cuts.get(`${gap.seq}.${gap.part}`);
    if (cut !== undefined) edit.add({ ...cut, data });
  });

/** Adds what `GET /sessions/:id` returned. It counts until newer envelopes come. */
export const reconcile = (view: AgentView, snapshot: SessionSnapshot): AgentView => change(view, (edit) => edit.setSnapshot(snapshot));
