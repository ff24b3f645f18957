// Telling the listeners of a request. One that throws is reported and changes nothing: others may share what it would break.
import { reportToConsole } from '../events/index.ts';
import type { ModelDelta, ModelNotice, ModelRequest } from './model.ts';

function guarded(what: string, call: () => void): void {
  try {
    call();
  } catch (error) {
    reportToConsole(error, what);
  }
}

/** Tells what happened on the way. */
export function tellNotice({ onNotice }: Pick<ModelRequest, 'onNotice'>, notice: ModelNotice): void {
  guarded(`a listener to the notice "${notice.type}"`, () => onNotice?.(notice));
}

/** Tells a piece of the answer. */
export function tellDelta(onDelta: ((delta: ModelDelta) => void) | undefined, delta: ModelDelta): void {
  guarded(`a listener to the delta "${delta.type}"`, () => onDelta?.(delta));
}

/** Tells that something came. */
export function tellActivity({ onActivity }: Pick<ModelRequest, 'onActivity'>): void {
  guarded('a listener to activity', () => onActivity?.());
}
