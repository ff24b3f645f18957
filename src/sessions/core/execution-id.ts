import { escapePart } from '../../lib/index.ts';

/** Returns the id of an execution of a session: the same at every attempt. */
export const toExecutionId = (sessionId: string, number: number): string => `${escapePart(sessionId)}/${number}`;

/** Reads the number of an execution of this session; undefined for an execution of another session, or inside one. */
export function readExecutionNumber(sessionId: string, executionId: string): number | undefined {
  const number = Number(executionId.slice(executionId.lastIndexOf('/') + 1));
  return toExecutionId(sessionId, number) === executionId ? number : undefined;
}
