import { DatabaseSync } from 'node:sqlite';
import { expect, test } from 'vitest';
import { cancel } from '../../src/cli/commands/execution.ts';
import { doctor } from '../../src/cli/commands/doctor.ts';
import { ExitCode } from '../../src/cli/exit-code.ts';
import { ann, sqlitePlace, stageOn } from '../sessions/stage.ts';
import { connectTo } from './cli-stage.ts';

test('stepline doctor counts actions whose rows are damaged', async () => {
  const place = sqlitePlace();
  const worker = stageOn(place).start();
  await worker.create({ id: 's', agent: 'desk' }, { by: ann });
  await worker.drain();
  const { context, printed } = connectTo(place, { timeoutMs: undefined });
  expect(await cancel(context, 's', 'enough')).toBe(ExitCode.Ok);
  const raw = new DatabaseSync(place.path ?? '');
  expect(raw.prepare(`UPDATE mail SET body = '{}'`).run().changes).toBe(1);
  raw.close();
  expect(await doctor(context, { place: 'sqlite', facts: { type: 'store', schema: 1, bytes: 1 } })).toBe(ExitCode.Failed);
  expect(printed.out.join('')).toContain('1 damaged action, never applied');
});
