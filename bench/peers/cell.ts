// One cell, in a process of its own: node --expose-gc cell.ts JOB CONTENDER WARM-UP-MS MEASURE-MS. Prints its figures as JSON.
import type { SetUp } from './contender.ts';
import { runJob } from './jobs.ts';
import type { ContenderId } from './rows.ts';
import { plans } from './rows.ts';

async function loadSetUp(contender: ContenderId): Promise<SetUp> {
  switch (contender) {
    case 'hand':
      return (await import('./contenders/by-hand.ts')).setUp;
    case 'ai':
      return (await import('./contenders/ai.ts')).setUp;
    case 'openai':
      return loadPeer('openai-agents');
    case 'langgraph':
      return loadPeer('langgraph');
    default:
      return (await import('./contenders/stepline.ts')).createSetUp(contender);
  }
}

/** Loads a contender whose package is installed for this benchmark only, and so is not there when the repository is checked. */
async function loadPeer(file: string): Promise<SetUp> {
  const loaded = (await import(`./contenders/${file}.ts`)) as { readonly setUp: SetUp };
  return loaded.setUp;
}

const [, , jobId, contender, warmUpMs, measureMs] = process.argv;
const plan = plans.find(({ id }) => id === jobId);
if (plan === undefined) throw new Error(`There is no job ${String(jobId)}.`);
// Holds: main.ts passes ids of the table.
const setUp = await loadSetUp(contender as ContenderId);
const figures = await runJob(plan.job, setUp, { warmUpMs: Number(warmUpMs), measureMs: Number(measureMs) });
process.stdout.write(`${JSON.stringify(figures)}\n`);
// Timers of a library must not keep the process alive.
process.exit();
