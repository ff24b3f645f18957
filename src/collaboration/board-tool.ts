/** The names of the tools. */
export const BoardTool = {
  Read: 'read_artifact',
  Write: 'write_artifact',
  Approve: 'approve_artifact',
  Handoff: 'handoff',
} as const;

/** Tools whose calls count only in a turn that completes; a repeated turn has to call them again. */
export const completionOnly: readonly string[] = [BoardTool.Approve, BoardTool.Handoff];
