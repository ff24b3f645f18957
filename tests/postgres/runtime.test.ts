// Sessions that outlive their process, in Postgres.
import { expect, test } from 'vitest';
import { dump, ann, stageOn, until, getWait } from '../sessions/stage.ts';
import { usePool } from './place.ts';

const { newPlace } = usePool();

test('a runtime that starts after a death resumes the open step, and repeats nothing', async () => {
  const stage = stageOn(newPlace());
  const first = stage.start();
  await first.create({ id: 's' }, { by: ann });
  // The process dies while the tool runs: nobody hears of it again.
  const sent = first.send('s', 'note 1; slow 2; note 3; say Done.', { by: ann });
  await stage.gate.current.reached;
  expect(stage.ran).toStrictEqual(['note 1']);

  const second = stage.start();
  expect((await second.ready).resumed).toStrictEqual(['s']);
  await until(async () => expect((await second.get('s')).status).toBe('completed'));
  // What must not happen twice is not done again: the model reads that it may have happened.
  expect(stage.ran).toStrictEqual(['note 1', 'note 3']);

  // The dead one wakes up, and can write nothing of it: it hands on the result of the other.
  const before = await dump(stage.place.open());
  stage.gate.current.open();
  expect(await sent).toMatchObject({ status: 'completed', text: 'Done.' });
  expect(await dump(stage.place.open())).toStrictEqual(before);
  expect(stage.problems).toStrictEqual([]);
});

test('an approval is given in another process', async () => {
  const stage = stageOn(newPlace());
  const first = stage.start();
  await first.create({ id: 's' }, { by: ann });
  expect((await first.send('s', 'pay 5; say Paid.', { by: ann })).status).toBe('waiting');
  await first.drain();
  const second = stage.start();
  const result = await second.approve('s', await getWait(second, 's'), { by: ann });
  expect([result.text, stage.ran]).toStrictEqual(['Paid.', ['pay 5']]);
  await second.drain();
});
