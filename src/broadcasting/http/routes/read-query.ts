// Filters of lists, from the address.
import { describeValue, InvalidArgumentError, omitUndefined } from '../../../lib/index.ts';
import type { SessionQuery } from '../../../sessions/index.ts';
import type { RouteCall } from './route.ts';

const largestPage = 200;

/** Reads the filters of a list. The scope that the host sets overrides what the client asks for. */
export function readQuery({ url, scope }: RouteCall, known: readonly string[]): SessionQuery {
  const given = Object.fromEntries(url.searchParams);
  const unknown = Object.keys(given).find((key) => !known.includes(key));
  if (unknown !== undefined) throw new InvalidArgumentError(`Unknown filter ${describeValue(unknown)}. Use one of ${known.join(', ')}.`);
  const limit = Number(given['limit'] ?? 50);
  if (!Number.isSafeInteger(limit) || limit < 1 || limit > largestPage)
    throw new InvalidArgumentError(`limit must be a whole number from 1 to ${largestPage}, not ${describeValue(given['limit'])}.`);
  const { agent, tenant, owner, tag, cursor, status, stop_reason } = given;
  // Holds: the runtime checks the status and the stop reason.
  const checked = { status, stopReason: stop_reason } as Pick<SessionQuery, 'status' | 'stopReason'>;
  return { ...omitUndefined({ agentName: agent, tenant, owner, tag, cursor, ...checked }), limit, ...scope };
}
