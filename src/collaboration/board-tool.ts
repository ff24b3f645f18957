/** The names of the tools. */
export const BoardTool = {
  Read: 'read_artifact',
  Write: 'write_artifact',
  Approve: 'approve_artifact',
  Handoff: 'handoff',
} as const;

/** What counts only in a turn that comes to its end: who takes the turn again has to say it again. */
export const uncounted: readonly string[] = [BoardTool.Approve, BoardTool.Handoff];
