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
    text: 'The search is broken here, on purpose. The agent tries it again; the third failure in a row ends the run, because its error policy says so. The last line says why it stopped, and the Why panel who decided.',
  },
  {
    id: ActId.Limit,
    title: 'A limit is reached',
    text: 'The request takes three steps, and this agent may take one. It does not fail: it waits until somebody allows more. Press Grant more, and it goes on where it was.',
  },
  {
    id: ActId.Approval,
    title: 'A call needs your approval',
    text: 'Deleting a lead needs a person. You see all arguments before you decide: approve the call, edit the lead number, or reject it with a reason, which the agent reads.',
  },
  {
    id: ActId.Killed,
    title: 'The worker is killed in mid-answer',
    text: 'The agent writes a report. In the middle of it, its process is killed with SIGKILL, for real. Watch the text: the other worker goes on with it and writes it again. The search is not repeated, because its result was stored.',
  },
  {
    id: ActId.Overnight,
    title: 'Nine hours later',
    text: 'This agent asked for approval nine hours ago, and its process has ended since. (A process whose clock is nine hours slow has just played that part.) Approve the call: the agent has a time limit of two minutes, and goes on all the same.',
  },
  {
    id: ActId.Why,
    title: 'Why',
    text: 'The Why panel says who decided that the agent stops. Open a step to see what every rule said after it, with meters. The nine hours count nowhere: the time limit measures the run, and nothing ran.',
  },
];
