import type { EnvelopePart } from '../envelope.ts';
import type { EventView } from './event-view.ts';

/** Facts about an event that it does not have itself. */
export interface PartPlace {
  /** Attempt at the open step, from 1. */
  readonly attempt?: number | undefined;
  /** Number of the model's answer in its attempt, from 1: one that fails makes its text void, and the next one begins. */
  readonly answer?: number | undefined;
  /** Position of a piece of text in the text of its kind. */
  readonly offset?: number | undefined;
}

/** Turns one type of event into the parts of its envelopes; undefined if it has no form of its own. */
export type PartMapper = (view: EventView, place: PartPlace) => readonly EnvelopePart[] | undefined;
