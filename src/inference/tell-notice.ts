import { reportToConsole } from '../events/index.ts';
import type { ModelNotice, ModelRequest } from './model.ts';

/** Tells the caller of a request. A listener that throws is reported and changes nothing: others may share what it would break. */
export function tellNotice({ onNotice }: Pick<ModelRequest, 'onNotice'>, notice: ModelNotice): void {
  try {
    onNotice?.(notice);
  } catch (error) {
    reportToConsole(error, `a listener to the notice "${notice.type}"`);
  }
}
