// Who runs what, as stepline workers and stepline doctor say it.
import { describe, expect, onTestFinished, test } from 'vitest';
import { doctor } from '../../src/cli/commands/doctor.ts';
import { show } from '../../src/cli/commands/show.ts';
import { listWorkers } from '../../src/cli/commands/workers.ts';
import type { CommandContext } from '../../src/cli/command-context.ts';
import type { StoredWorker } from '../../src/sessions/index.ts';
import { createMemoryPlace } from '../../src/sessions/index.ts';
import { ann, stageOn } from '../sessions/stage.ts';
import { connectTo, createCliStage, getText } from './cli-stage.ts';

/** A context whose store says of its workers what is given. */
function withWorkers(context: CommandContext, ...given: readonly Partial<StoredWorker>[]): CommandContext {
  const workers = async (): Promise<readonly StoredWorker[]> =>
    given.map((worker, index) => ({
      ...{ id: `w${index}`, joinedAt: 0, agents: ['desk'], room: 3, beats: 1, silentMs: 0, sessions: 0 },
      ...worker,
    }));
  return { ...context, store: { ...context.store, leases: { ...context.store.leases, workers } } };
}

const facts = { place: 'memory', facts: { type: 'store', schema: 1, bytes: 1 } } as const;

describe('stepline workers', () => {
  test('lists who runs what: process, agents, sessions, room, and the last sign of life', async () => {
    const { worker, connect, gate } = createCliStage();
    onTestFinished(gate.current.open);
    await worker.create({ id: 's' }, { by: ann });
    void worker.send('s', 'slow 1', { by: ann }).catch(() => undefined);
    await gate.current.reached;
    const { context, printed } = connect();
    expect(await listWorkers(context)).toBe(0);
    const [titles, first] = getText(printed).split('\n');
    expect(titles).toMatch(/^WORKER +STATE +SESSIONS +ROOM +LAST SIGN +AGENTS +PROCESS$/);
    expect(first).toMatch(new RegExp(`^process ${process.pid} on \\S+ +alive +1 +\\d+ +now +desk$`));
  });

  test('names a worker, and says whether its connection is open', async () => {
    const { context, printed } = connectTo(createMemoryPlace());
    await listWorkers(withWorkers(context, { name: 'pod-1', pid: 7, host: 'far', isConnected: true, agents: ['desk', 'billing'] }));
    expect(getText(printed)).toMatch(/^pod-1 +alive +0 +3 +now +open +desk, billing +process 7 on far$/m);
  });

  test('tells the living from those that are silent, or gone', async () => {
    const { context, printed } = connectTo(createMemoryPlace(), { json: true });
    const silent = { silentMs: 5000 };
    await listWorkers(withWorkers(context, silent, { silentMs: 60_000 }, { isConnected: false, ...silent }, { isConnected: false }));
    const { workers } = JSON.parse(getText(printed)) as { readonly workers: readonly object[] };
    expect(workers).toMatchObject([{ state: 'alive' }, { state: 'silent' }, { state: 'gone' }, { state: 'alive' }]);
    expect(workers[0]).toStrictEqual({
      ...{ id: 'w0', joinedAt: 0, agents: ['desk'], state: 'alive', sessions: 0, room: 3, silentMs: 5000 },
    });
  });

  test('says that none of them is alive', async () => {
    const { context, printed } = connectTo(createMemoryPlace());
    await listWorkers(withWorkers(context, { silentMs: 60_000, sessions: 2 }));
    expect(printed.err).toStrictEqual(['No worker is alive: nobody runs the sessions of this store.\n']);
  });

  test('says that there are none', async () => {
    const { context, printed } = connectTo(createMemoryPlace());
    expect(await listWorkers(context)).toBe(0);
    expect(getText(printed)).toBe('No workers: nobody runs the sessions of this store.\n');
  });
});

describe('stepline show', () => {
  test('says who runs a session that is in progress, and that its worker is gone', async () => {
    const { worker, connect, gate } = createCliStage();
    onTestFinished(gate.current.open);
    await worker.create({ id: 's' }, { by: ann });
    void worker.send('s', 'slow 1', { by: ann }).catch(() => undefined);
    await gate.current.reached;
    const readRunner = async (change: (context: CommandContext) => CommandContext): Promise<string | undefined> => {
      const { context, printed } = connect();
      await show(change(context), 's');
      return /^run by +(.*)$/m.exec(getText(printed))?.[1];
    };
    const { context } = connect();
    const id = (await context.store.leases.workers())[0]?.id ?? '';
    expect(await readRunner((each) => each)).toMatch(new RegExp(`^process ${process.pid} on `));
    expect(await readRunner((each) => withWorkers(each, { id, name: 'pod-1', pid: 7, silentMs: 60_000 }))).toBe(
      '"pod-1" (process 7), which is silent',
    );
    expect(await readRunner((each) => withWorkers(each, {}))).toBe('a worker that is gone');
  });

  test('says that nobody runs a session, and why', async () => {
    const place = createMemoryPlace();
    const client = stageOn(place).start({ role: 'client' });
    await client.create({ id: 's' }, { by: ann });
    await client.send('s', 'say Hello', { by: ann, until: 'accepted' });
    const { context, printed } = connectTo(place);
    await show(context, 's');
    await show(withWorkers(context, { agents: ['billing'] }), 's');
    expect(getText(printed).match(/(?<=^run by +)\S.*$/gm)).toStrictEqual(['nobody: no worker is alive', 'nobody: no worker has desk']);
  });
});

describe('stepline doctor', () => {
  test('finds a worker that is gone wrong only if it still has sessions', async () => {
    for (const [sessions, code] of [
      [0, 0],
      [2, 1],
    ] as const) {
      const { context, printed } = connectTo(createMemoryPlace());
      expect(await doctor(withWorkers(context, {}, { name: 'pod-2', silentMs: 60_000, sessions }), facts)).toBe(code);
      expect(getText(printed)).toMatch(/worker +(note|wrong) +"pod-2" \(process w1\): no sign of life for 1 min/);
    }
  });

  test('finds open sessions wrong whose agent no worker runs', async () => {
    const { context, printed } = connectTo(createMemoryPlace());
    const stage = stageOn({ open: () => context.store });
    const worker = stage.start();
    await worker.create({ id: 's' }, { by: ann });
    void worker.send('s', 'slow 1', { by: ann }).catch(() => undefined);
    await stage.gate.current.reached;
    expect(await doctor(withWorkers(context, { agents: ['billing'] }), facts)).toBe(1);
    expect(getText(printed)).toMatch(/open steps +wrong +1 session open;.*no worker runs desk/);
    expect(await doctor(withWorkers(context, { agents: ['desk'] }), facts)).toBe(0);
    stage.gate.current.open();
    await worker.drain();
  });
});
