// The table of the comparison as data: its columns, its rows, and the cells that are left out.

/** Contenders: a library, or a way to use Stepline. `column` is the short name, for the head of a table. */
export const contenders = [
  { id: 'hand', title: 'by hand', column: 'by hand' },
  { id: 'own', title: 'Stepline, own Model', column: 'Stepline, own `Model`' },
  { id: 'run', title: 'Stepline, aiSdk(), run()', column: 'Stepline, `aiSdk()`, `run()`' },
  { id: 'start', title: 'Stepline, aiSdk(), start()', column: '`start()`' },
  { id: 'compacted', title: 'Stepline, aiSdk(), compacted', column: 'compacted' },
  { id: 'nextStep', title: 'Stepline, aiSdk(), nextStep()', column: '`nextStep()`' },
  { id: 'ai', title: 'ai', column: 'ai', package: 'ai' },
  { id: 'openai', title: 'openai-agents', column: 'openai-agents', package: '@openai/agents' },
  { id: 'langgraph', title: 'langgraph', column: 'langgraph', package: '@langchain/langgraph' },
] as const;

export type ContenderId = (typeof contenders)[number]['id'];

/** Other libraries. */
export const peers: readonly ContenderId[] = ['ai', 'openai', 'langgraph'];

/** Work that one process does for one contender. */
export type Job =
  | { readonly type: 'conversation'; readonly steps: number; readonly calls: number; readonly streams: boolean }
  | { readonly type: 'deltas'; readonly deltas: number }
  | { readonly type: 'first-delta' }
  | { readonly type: 'sessions'; readonly sessions: number; readonly steps: number }
  | { readonly type: 'idle'; readonly sessions: number; readonly steps: number }
  | { readonly type: 'snapshot'; readonly steps: number }
  | { readonly type: 'prefix'; readonly steps: number }
  | { readonly type: 'envelopes' }
  | { readonly type: 'reducer' };

/** Figure of a job. */
export interface Row {
  readonly id: string;
  readonly title: string;
  readonly unit: string;
  readonly digits: number;
  /** Name of the figure in the answer of the job. */
  readonly figure: string;
  /** True for a count, which has no ratios. */
  readonly isCount?: boolean;
}

/** Rows that are measured by the same process. */
export interface JobPlan {
  readonly id: string;
  readonly job: Job;
  readonly rows: readonly Row[];
  /** Reasons for cells that are not measured. */
  readonly leftOut: Partial<Record<ContenderId, string>>;
  /** True if every round gives the same figure. */
  readonly isExact?: boolean;
}

const sameAsRun = 'the same path as run()';
const oursOnly = 'not a part of this library';
const onlyOurs = {
  ...{ hand: oursOnly, own: sameAsRun, start: sameAsRun, compacted: sameAsRun, nextStep: sameAsRun },
  ...{ ai: oursOnly, openai: oursOnly, langgraph: oursOnly },
};
const notPerStep = { compacted: sameAsRun, nextStep: sameAsRun };
const oneState = { ...notPerStep, start: 'the same state as run()' };
const between = 'see 100 and 5,000 steps';
const tooLong = (seconds: number): string => `one run takes more than ${seconds} s`;

const planSteps = (steps: number, leftOut: JobPlan['leftOut'] = {}): JobPlan => ({
  id: `steps-${steps}`,
  job: { type: 'conversation', steps, calls: 1, streams: false },
  rows: [{ id: `steps-${steps}`, title: `${steps.toLocaleString('en')} steps`, unit: 'µs per step', digits: 1, figure: 'micros' }],
  leftOut,
});

export const plans: readonly JobPlan[] = [
  planSteps(10, { compacted: 'too short to be compacted', nextStep: 'see 100 steps' }),
  planSteps(100),
  planSteps(1000, { start: between, compacted: between, nextStep: between, openai: tooLong(10) }),
  planSteps(5000, { openai: 'one run takes minutes, by estimate', langgraph: tooLong(20) }),
  {
    id: 'streamed',
    job: { type: 'conversation', steps: 100, calls: 1, streams: true },
    rows: [{ id: 'streamed', title: '100 steps, answers streamed', unit: 'µs per step', digits: 1, figure: 'micros' }],
    leftOut: notPerStep,
  },
  {
    id: 'ten-tools',
    job: { type: 'conversation', steps: 50, calls: 10, streams: false },
    rows: [{ id: 'ten-tools', title: 'ten parallel tools', unit: 'µs per step', digits: 1, figure: 'micros' }],
    leftOut: notPerStep,
  },
  {
    id: 'deltas',
    job: { type: 'deltas', deltas: 20_000 },
    rows: [{ id: 'deltas', title: 'streamed delta', unit: 'µs', digits: 2, figure: 'micros' }],
    leftOut: notPerStep,
  },
  {
    id: 'first-delta',
    job: { type: 'first-delta' },
    rows: [{ id: 'first-delta', title: 'time to the first delta', unit: 'µs', digits: 0, figure: 'micros' }],
    leftOut: notPerStep,
  },
  {
    id: 'sessions',
    job: { type: 'sessions', sessions: 1000, steps: 10 },
    rows: [{ id: 'sessions', title: '1,000 sessions × 10 steps', unit: 's', digits: 2, figure: 'seconds' }],
    leftOut: notPerStep,
  },
  {
    id: 'idle',
    job: { type: 'idle', sessions: 200, steps: 10 },
    rows: [{ id: 'idle', title: 'kept per idle session', unit: 'kB', digits: 1, figure: 'kilobytes' }],
    leftOut: oneState,
  },
  {
    id: 'snapshot',
    job: { type: 'snapshot', steps: 100 },
    rows: [
      { id: 'bytes', title: 'snapshot of 100 steps', unit: 'kB', digits: 1, figure: 'kilobytes' },
      { id: 'save', title: 'save 100 steps', unit: 'ms', digits: 2, figure: 'saveMs' },
      { id: 'restore', title: 'restore 100 steps', unit: 'ms', digits: 2, figure: 'restoreMs' },
    ],
    leftOut: oneState,
  },
  {
    id: 'prefix',
    job: { type: 'prefix', steps: 40 },
    rows: [{ id: 'prefix', title: 'requests that keep the prompt’s beginning', unit: 'of 39', digits: 0, figure: 'kept', isCount: true }],
    leftOut: {},
    isExact: true,
  },
  {
    id: 'envelopes',
    job: { type: 'envelopes' },
    rows: [{ id: 'envelopes', title: 'an event to its envelopes', unit: 'µs', digits: 2, figure: 'micros' }],
    leftOut: onlyOurs,
  },
  {
    id: 'reducer',
    job: { type: 'reducer' },
    rows: [{ id: 'reducer', title: 'an envelope in the page’s reducer', unit: 'µs', digits: 2, figure: 'micros' }],
    leftOut: onlyOurs,
  },
];

/** Jobs that --quick skips for contenders that take seconds for them. */
export const slowCells: readonly `${string}/${ContenderId}`[] = [
  'sessions/langgraph',
  'sessions/openai',
  'steps-5000/ai',
  'steps-1000/langgraph',
];
