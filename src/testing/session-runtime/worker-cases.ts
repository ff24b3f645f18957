// Several workers on one store.
import { same } from '../conformance.ts';
import type { RuntimeCases } from './runtime-stage.ts';
import { bob, readEvents, within } from './runtime-stage.ts';

const numbers = Array.from({ length: 10 }, (_, index) => index + 1);

export const workerCases: RuntimeCases = {
  'continues a session in another worker if its own is killed': {
    needs: ['kill', 'workers'],
    check: async (stage) => {
      await stage.start('one', 'note 1; look 2@g; say End');
      await stage.reach('look 2');
      await stage.add();
      await stage.kill();
      await stage.world.open('g');
      const session = await stage.becomes('one', 'completed');
      same([session.text, session.executions, session.stepCount], ['End', 1, 3], 'session');
      same([await stage.count('note 1'), await stage.count('look 2')], [1, 2], 'effects');
    },
  },
  'hands a session over to another worker if its own is drained, with the messages that came': {
    needs: ['drain', 'workers'],
    check: async (stage) => {
      await stage.start('one', 'note 1@g; say One');
      await stage.reach('note 1');
      await stage.add();
      await within(stage.send('one', 'note 2; say Two', { until: 'accepted' }), 'accepting the second message');
      await stage.isTaken('one');
      const drained = stage.drain();
      await stage.world.open('g');
      await drained;
      const session = await stage.becomes('one', 'completed');
      same([session.text, session.executions], ['Two', 1], 'session');
      same([await stage.count('note 1'), await stage.count('note 2')], [1, 1], 'effects');
    },
  },
  'runs each call once, whichever of several workers has the session': {
    needs: ['workers'],
    check: async (stage) => {
      await stage.add();
      await stage.add();
      await Promise.all(numbers.map((n) => stage.start(`s${n}`, `note ${n}; note ${n + 100}; say End ${n}`)));
      for (const n of numbers) {
        const { text, stepCount } = await stage.becomes(`s${n}`, 'completed');
        same([text, stepCount], [`End ${n}`, 3], `end of s${n}`);
        const seqs = (await readEvents(stage.runtime, `s${n}`)).map(({ seq }) => seq);
        same(
          seqs,
          seqs.map((_, index) => index + 1),
          `numbers of the events of s${n}`,
        );
      }
      same(await stage.count('note'), 20, 'calls');
    },
  },
  'cancels a session, whichever of several workers has it': {
    needs: ['workers'],
    check: async (stage) => {
      await stage.start('one', 'note 1@never');
      await stage.reach('note 1');
      await stage.add();
      await stage.start('two', 'note 2@never');
      await stage.reach('note 2');
      for (const id of ['one', 'two']) {
        const cancelled = await within(stage.runtime.cancel(id, 'enough', { by: bob }), `cancelling ${id}`);
        same([cancelled.status, cancelled.stopReason], ['stopped', 'user_requested'], `result of ${id}`);
      }
    },
  },
};
