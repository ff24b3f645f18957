import type { StateType } from '../../step-by-step/index.ts';
import type { SessionFacts, SessionReader } from '../index.ts';

/** A session that another one is forked from. */
export interface SessionSource {
  readonly reader: SessionReader;
  readonly facts: SessionFacts;
  readonly states: StateType;
}
