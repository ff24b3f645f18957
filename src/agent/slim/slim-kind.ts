import { isRecord } from '../../lib/index.ts';

/** Name of slim payloads where kinds of data are told apart. */
export const slimKind = 'slim-agent-state';

/** True for data that is a slim payload by its form; a whole one does not name its kind. */
export const isSlimPayload = (data: unknown): boolean =>
  isRecord(data) && (data['kind'] === slimKind || (Object.hasOwn(data, 'agent_id') && Object.hasOwn(data, 'resumable')));
