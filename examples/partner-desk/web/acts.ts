// The acts of the tour, as people read them on the page.

export const ActId = {
  FailingTool: 'failing-tool',
  Limit: 'limit',
  Approval: 'approval',
  Killed: 'killed',
  Overnight: 'overnight',
  Why: 'why',
} as const;
export type ActId = (typeof ActId)[keyof typeof ActId];

/** An act of the tour. */
export interface Act {
  readonly id: ActId;
  readonly title: string;
  /** Text about what to look at. */
  readonly text: string;
}

export const acts: readonly Act[] = [
  {
    id: ActId.FailingTool,
    title: 'A tool fails',
    text: 'The search is broken here, on purpose. The agent tries again, and gives up at the third failure in a row, because its error policy says so. Open a red tool block to read the error; the last line says why it stopped.',
  },
  {
    id: ActId.Limit,
    title: 'A limit is reached',
    text: 'The request takes three steps, and this agent may take one. It does not fail: it waits for somebody to allow more. Grant it two more steps, and it goes on where it was.',
  },
  {
    id: ActId.Approval,
    title: 'A call needs your approval',
    text: 'Deleting a lead needs a person. You see all arguments before you decide: approve the call, change the lead number, or reject it with a reason, which the agent reads.',
  },
  {
    id: ActId.Killed,
    title: 'The worker is killed in mid-answer',
    text: 'The agent writes a report. In the middle of it, its process is killed with SIGKILL, for real. Watch the text: a new process takes over and writes it again, but does not repeat the search, which was stored.',
  },
  {
    id: ActId.Overnight,
    title: 'Nine hours later',
    text: 'This agent asked for approval nine hours ago, and its process has ended since. (A process whose clock is nine hours slow has just played that part.) Approve the call now: the agent has a time limit of two minutes, and goes on all the same.',
  },
  {
    id: ActId.Why,
    title: 'Why',
    text: 'The Why panel says who decided that the agent stops, and what every rule said after each step. Look at the meters: the nine hours count nowhere, because nobody was working.',
  },
];
