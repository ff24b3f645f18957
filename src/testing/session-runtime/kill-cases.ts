// Workers that end in the middle of their work.
import { holds, same } from '../conformance.ts';
import type { RuntimeCases, RuntimeStage } from './runtime-stage.ts';
import { ann, waitFor, readEvents } from './runtime-stage.ts';

/** Fails the case if a call with the effect class `once` ran twice, or an idempotent one under two keys. */
async function checkEffects({ world }: RuntimeStage): Promise<void> {
  const records = await world.records();
  const once = records.filter((line) => /^(?:note|pay) /.test(line));
  same(once.length, new Set(once).size, `lines of calls that must run once, against different ones (${once.join(', ')})`);
  const keys = new Map<string, string>();
  for (const line of records.filter((each) => each.startsWith('put '))) {
    const [, amount = '', key = ''] = line.split(' ');
    same(key, keys.get(amount) ?? key, `idempotency key of "put ${amount}"`);
    keys.set(amount, key);
  }
}

const sessions = Array.from({ length: 6 }, (_, index) => index + 1);

/** Two steps of four calls of all effect classes; each call of all sessions has an amount of its own. */
const toOrder = (session: number): string => {
  const toStep = (step: number): string => {
    const amount = (call: number): number => session * 100 + step * 10 + call;
    return `look ${amount(1)} & put ${amount(2)} & note ${amount(3)} & note ${amount(4)}`;
  };
  return `${toStep(1)}; ${toStep(2)}; ${toStep(3)}; say End`;
};

export const killCases: RuntimeCases = {
  'resumes a session that was cut off, and does not repeat recorded steps': {
    needs: ['kill'],
    check: async (stage) => {
      await stage.start('one', 'note 1; note 2; look 3@g; say End');
      await stage.reach('look 3');
      await stage.kill();
      await stage.world.open('g');
      await stage.restart();
      const session = await stage.becomes('one', 'completed');
      same([session.text, session.executions, session.stepCount], ['End', 1, 4], 'session');
      same([await stage.count('note 1'), await stage.count('note 2'), await stage.count('look 3')], [1, 1, 2], 'effects');
    },
  },
  'runs no call twice that must run once if four calls of a step are cut off': {
    needs: ['kill'],
    check: async (stage) => {
      await stage.start('one', 'look 1@g & put 2@g & note 3@g & note 4@g; say End');
      for (const line of ['look 1', 'put 2', 'note 3', 'note 4']) await stage.reach(line);
      await stage.kill();
      await stage.world.open('g');
      await stage.restart();
      same((await stage.becomes('one', 'completed')).text, 'End', 'end');
      await checkEffects(stage);
      same([await stage.count('note 3'), await stage.count('note 4')], [1, 1], 'calls that must run once');
      holds((await stage.count('put 2')) === 2, 'the idempotent call was not repeated, though nobody knows its result');
    },
  },
  'finishes every session of four calls a step through three kills at any moment': {
    needs: ['kill'],
    options: { maxRecoveries: 10 },
    check: async (stage) => {
      await Promise.all(sessions.map((session) => stage.start(`s${session}`, toOrder(session))));
      for (const ms of [3, 11, 29]) {
        await waitFor(ms);
        await stage.kill();
        await stage.restart();
      }
      for (const session of sessions) {
        const { text, stepCount, executions } = await stage.becomes(`s${session}`, 'completed');
        same([text, stepCount, executions], ['End', 4, 1], `end of s${session}`);
        const numbers = (await readEvents(stage.runtime, `s${session}`)).map(({ seq }) => seq);
        same(
          numbers,
          numbers.map((_, index) => index + 1),
          `numbers of the events of s${session}`,
        );
      }
      await checkEffects(stage);
    },
  },
  'applies a message that came before the kill after it': {
    needs: ['kill'],
    check: async (stage) => {
      await stage.start('one', 'look 1@g; say One');
      await stage.reach('look 1');
      await stage.send('one', 'say Two', { until: 'accepted' });
      await stage.kill();
      await stage.world.open('g');
      await stage.restart();
      const session = await stage.becomes('one', 'completed');
      same([session.text, session.executions], ['Two', 1], 'session');
    },
  },
  'stays cancelled if the worker is killed after the cancel': {
    needs: ['kill'],
    check: async (stage) => {
      await stage.start('one', 'note 1@never; note 2; say End');
      await stage.reach('note 1');
      await stage.runtime.cancel('one', 'enough', { by: ann });
      await stage.kill();
      await stage.restart();
      same((await stage.becomes('one', 'stopped')).stopReason, 'user_requested', 'reason');
      same(await stage.count('note 2'), 0, 'calls after the cancel');
    },
  },
};
