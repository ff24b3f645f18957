// Calls the listeners of a request. One that throws is reported and changes nothing: others may share what it would break.
import { reportToConsole } from '../events/index.ts';
import type { ModelDelta, ModelNotice, ModelRequest } from './model.ts';

function callSafely(what: string, call: () => void): void {
  try {
    call();
  } catch (error) {
    reportToConsole(error, what);
  }
}

/** Emits a notice of what happened on the way. */
export function emitNotice({ onNotice }: Pick<ModelRequest, 'onNotice'>, notice: ModelNotice): void {
  callSafely(`a listener to the notice "${notice.type}"`, () => onNotice?.(notice));
}

/** Emits a piece of the answer. */
export function emitDelta(onDelta: ((delta: ModelDelta) => void) | undefined, delta: ModelDelta): void {
  callSafely(`a listener to the delta "${delta.type}"`, () => onDelta?.(delta));
}

/** Emits that something came. */
export function emitActivity({ onActivity }: Pick<ModelRequest, 'onActivity'>): void {
  callSafely('a listener to activity', () => onActivity?.());
}
