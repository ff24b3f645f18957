import type { CallIds } from './call-ids.ts';

/** The arguments of one call as they come. */
export interface ToolInput {
  /** The id under which the call is kept. */
  readonly id: string;
  readonly name: string;
  text: string;
  ended: boolean;
}

/** The arguments that are on their way, by the provider's ids. Those of one call never mix with those of another. */
export interface ToolInputs {
  start(givenId: string, name: string): ToolInput;
  /** The newest under this id that no call has taken. */
  newest(givenId: string): ToolInput | undefined;
  /** Hands the oldest under this id to its call. */
  take(givenId: string): ToolInput | undefined;
  /** Those that no call has taken, in the order of their start; none are left. */
  takeAll(): readonly ToolInput[];
}

/** Keeps the arguments of one answer. */
export function createToolInputs(callIds: CallIds): ToolInputs {
  const open = new Map<string, ToolInput[]>();
  const started = new Set<ToolInput>();
  return {
    start: (givenId, name) => {
      const input: ToolInput = { id: callIds.assign(givenId), name, text: '', ended: false };
      const same = open.get(givenId);
      if (same === undefined) open.set(givenId, [input]);
      else same.push(input);
      started.add(input);
      return input;
    },
    newest: (givenId) => open.get(givenId)?.at(-1),
    take: (givenId) => {
      const input = open.get(givenId)?.shift();
      if (input !== undefined) started.delete(input);
      return input;
    },
    takeAll: () => {
      const rest = [...started];
      started.clear();
      open.clear();
      return rest;
    },
  };
}
