// Calls the listeners of a request. One that throws is reported and changes nothing: others may share what it would break.
import { reportToConsole } from '../events/index.ts';
import type { ModelDelta, ModelNotice, ModelRequest } from './model.ts';

/** Emits a notice of what happened on the way. */
export function emitNotice({ onNotice }: Pick<ModelRequest, 'onNotice'>, notice: ModelNotice): void {
  try {
    onNotice?.(notice);
  } catch (error) {
    reportToConsole(error, `a listener to the notice "${notice.type}"`);
  }
}

/** Emits a piece of the answer. */
export function emitDelta(onDelta: ((delta: ModelDelta) => void) | undefined, delta: ModelDelta): void {
  try {
    onDelta?.(delta);
  } catch (error) {
    reportToConsole(error, `a listener to the delta "${delta.type}"`);
  }
}

/** Emits that something came. */
export function emitActivity({ onActivity }: Pick<ModelRequest, 'onActivity'>): void {
  try {
    onActivity?.();
  } catch (error) {
    reportToConsole(error, 'a listener to activity');
  }
}
