// The work of a cell: sets up a contender for a script, warms it up, measures it, and checks that all of the work was done.
import { setImmediate } from 'node:timers/promises';
import type { Script, SetUp, Subject, Tally } from './contender.ts';
import type { Effort } from './measure-cpu.ts';
import { getMedian, measureCpu, readCpu, repeatFor } from './measure-cpu.ts';
import { measureEnvelopes, measureReducer } from './own-jobs.ts';
import type { Job } from './rows.ts';

/** Figures of a cell by their names. */
export type Figures = Readonly<Record<string, number>>;

/** Steps of the conversations that warm up. */
const warmUpSteps = 100;

const createScript = (given: Partial<Script>): Script => ({
  ...{ steps: 1, calls: 1, deltas: 1, streams: false },
  tally: { requests: 0, toolRuns: 0, notices: 0, pieces: 0 },
  ...given,
});

/** Throws unless the conversations were played to their ends, with every tool run, every piece read and the listener called. */
function assertDone({ steps, calls, deltas, streams, tally }: Script, conversations: number): void {
  const expected: Omit<Tally, 'notices'> = {
    requests: steps * conversations,
    toolRuns: (steps - 1) * calls * conversations,
    pieces: streams ? deltas * conversations : 0,
  };
  for (const [name, count] of Object.entries(expected)) {
    // Holds: the names are those of the tally.
    const seen = tally[name as keyof Tally];
    if (seen !== count) throw new Error(`${name}: ${seen} instead of ${count} in ${conversations} conversations.`);
  }
  if (tally.notices === 0) throw new Error('The listener was never called.');
}

/** Sets up a contender whose conversations are counted. */
async function setUpCounted(setUp: SetUp, script: Script): Promise<Subject & { readonly assertDone: () => void }> {
  const subject = await setUp(script);
  let conversations = 0;
  return {
    ...subject,
    converse: () => {
      conversations += 1;
      return subject.converse();
    },
    assertDone: () => assertDone(script, conversations),
  };
}

async function measureConversation(setUp: SetUp, given: Partial<Script>, effort: Effort): Promise<number> {
  const short = await setUpCounted(setUp, createScript({ ...given, steps: Math.min(given.steps ?? 1, warmUpSteps) }));
  await repeatFor(effort.warmUpMs, short.converse);
  const subject = await setUpCounted(setUp, createScript(given));
  const micros = await measureCpu(subject.converse, effort.measureMs);
  subject.assertDone();
  return micros;
}

async function measureFirstDelta(setUp: SetUp, effort: Effort): Promise<number> {
  let firstAt = 0;
  const script = createScript({ deltas: 20, streams: true, onText: () => (firstAt ||= performance.now()) });
  const subject = await setUpCounted(setUp, script);
  await repeatFor(effort.warmUpMs, subject.converse);
  const waits: number[] = [];
  await repeatFor(effort.measureMs, async () => {
    firstAt = 0;
    const began = performance.now();
    await subject.converse();
    waits.push(firstAt - began);
  });
  subject.assertDone();
  return 1000 * getMedian(waits);
}

const converseAtOnce = ({ converse }: Subject, sessions: number): Promise<unknown[]> =>
  Promise.all(Array.from({ length: sessions }, () => converse()));

async function measureSessions(setUp: SetUp, { sessions, steps }: Job & { type: 'sessions' }, effort: Effort): Promise<number> {
  const subject = await setUpCounted(setUp, createScript({ steps }));
  await repeatFor(effort.warmUpMs, () => converseAtOnce(subject, 10));
  globalThis.gc?.();
  const before = readCpu();
  await converseAtOnce(subject, sessions);
  const micros = readCpu() - before;
  subject.assertDone();
  return micros / 1e6;
}

/** Bytes of the heap that are in use after garbage was collected. */
function readHeap(): number {
  if (globalThis.gc === undefined) throw new Error('Start Node with --expose-gc.');
  for (let pass = 0; pass < 3; pass += 1) globalThis.gc();
  const { heapUsed, external } = process.memoryUsage();
  return heapUsed + external;
}

/** Kilobytes that are freed when the conversations are dropped, so that compiled code and caches do not count. */
async function measureIdle(setUp: SetUp, { sessions, steps }: Job & { type: 'idle' }): Promise<number> {
  const subject = await setUpCounted(setUp, createScript({ steps }));
  const kept: unknown[] = [];
  for (let index = 0; index < sessions; index += 1) kept.push(await subject.converse());
  subject.assertDone();
  if (kept.some((each) => each === undefined)) throw new Error('Nothing was kept of a conversation.');
  // A weak reference holds what it was asked for until the event loop turns; conversations that are idle have seen it turn.
  await setImmediate();
  const before = readHeap();
  kept.length = 0;
  return (before - readHeap()) / sessions / 1000;
}

async function measureSnapshot(setUp: SetUp, steps: number, effort: Effort): Promise<Figures> {
  const { converse, save, restore } = await setUpCounted(setUp, createScript({ steps }));
  if (save === undefined || restore === undefined) throw new Error('The contender stores no conversations.');
  const kept = await converse();
  const saved = await save(kept);
  await repeatFor(effort.warmUpMs, async () => restore(await save(kept)));
  return {
    kilobytes: Buffer.byteLength(saved) / 1000,
    saveMs: (await measureCpu(() => save(kept), effort.measureMs / 2)) / 1000,
    restoreMs: (await measureCpu(() => restore(saved), effort.measureMs / 2)) / 1000,
  };
}

/** Counts the requests that begin with the bytes of the request before and offer the same tools. */
async function countKeptPrefixes(setUp: SetUp, steps: number): Promise<number> {
  const requests: { readonly prompt: string; readonly tools: string }[] = [];
  const onRequest: Script['onRequest'] = (prompt, tools) =>
    requests.push({ prompt: JSON.stringify(prompt), tools: JSON.stringify(tools ?? []) });
  const subject = await setUpCounted(setUp, createScript({ steps, onRequest }));
  await subject.converse();
  subject.assertDone();
  return requests.slice(1).filter(({ prompt, tools }, index) => {
    const before = requests[index];
    return before !== undefined && prompt.startsWith(before.prompt.slice(0, -1)) && tools === before.tools;
  }).length;
}

/** Does a job for a contender. */
export async function runJob(job: Job, setUp: SetUp, effort: Effort): Promise<Figures> {
  switch (job.type) {
    case 'conversation': {
      const { steps, calls, streams } = job;
      return { micros: (await measureConversation(setUp, { steps, calls, streams }, effort)) / steps };
    }
    case 'deltas':
      return { micros: (await measureConversation(setUp, { deltas: job.deltas, streams: true }, effort)) / job.deltas };
    case 'first-delta':
      return { micros: await measureFirstDelta(setUp, effort) };
    case 'sessions':
      return { seconds: await measureSessions(setUp, job, effort) };
    case 'idle':
      return { kilobytes: await measureIdle(setUp, job) };
    case 'snapshot':
      return measureSnapshot(setUp, job.steps, effort);
    case 'prefix':
      return { kept: await countKeptPrefixes(setUp, job.steps) };
    case 'envelopes':
      return { micros: await measureEnvelopes(effort) };
    case 'reducer':
      return { micros: await measureReducer(effort) };
  }
}
