import { isRecord } from '../../lib/index.ts';

/** Kind of slim payloads among stored data. */
export const slimKind = 'slim-agent-state';

/** True for data that is a slim payload by its form; a whole one does not name its kind. */
export const isSlimPayload = (data: unknown): boolean =>
  isRecord(data) && (data['kind'] === slimKind || (Object.hasOwn(data, 'agent_id') && Object.hasOwn(data, 'resumable')));
