import { checkKeys, cleanText, describeValue, InvalidArgumentError, isRecord, omitUndefined } from '../../lib/index.ts';
import { parseActionOptions, parseText } from '../core/parse-input.ts';
import type { Hold, HoldScope, SessionRuntime } from '../core/session-runtime.ts';
import { dropHold, putHold, readHolds } from './hold-gate.ts';
import type { SessionHost } from './session-host.ts';

function parseScope(scope: HoldScope): HoldScope {
  const given: unknown = scope;
  if (!isRecord(given))
    throw new InvalidArgumentError(
      `hold() needs an object as its first argument, not ${describeValue(given)}. Pass { tenant } or { agent }, or {} to hold every session.`,
    );
  checkKeys('hold()', given, ['tenant', 'agent']);
  const parse = (name: 'tenant' | 'agent'): string | undefined =>
    given[name] === undefined ? undefined : parseText(given[name], `The ${name} of hold()`);
  return omitUndefined({ tenant: parse('tenant'), agent: parse('agent') });
}

/** Methods that keep sessions from starting model calls. Any process may use them; the one that runs sessions obeys. */
export function createHolds({ store, ids, clock, holds }: SessionHost): Pick<SessionRuntime, 'hold' | 'release' | 'holds'> {
  return {
    hold: async (scope, reason, options = {}) => {
      checkKeys('hold()', options, ['by']);
      const { by } = options;
      const author = by === undefined ? {} : { by: parseActionOptions({ by }, 'hold').by };
      const why = parseText(reason, 'The reason of hold()');
      const hold: Hold = { ...parseScope(scope), id: ids(), reason: why, ...author, at: clock.now() };
      await putHold(store.notes, hold);
      // Obeyed here at once, whenever the store says that it has changed.
      await holds.refresh();
      return hold;
    },
    release: async (holdId) => dropHold(store.notes, cleanText(parseText(holdId, 'The id of a hold'))),
    holds: () => readHolds(store.notes),
  };
}
