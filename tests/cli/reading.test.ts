import { describe, expect, test } from 'vitest';
import { printEvents } from '../../src/cli/commands/events.ts';
import { listSessions } from '../../src/cli/commands/sessions.ts';
import { show } from '../../src/cli/commands/show.ts';
import { listWaits } from '../../src/cli/commands/waits.ts';
import { why } from '../../src/cli/commands/why.ts';
import { ann, refusal } from '../sessions/stage.ts';
import { createCliStage, runSession, getText } from './cli-stage.ts';

const json = (text: string): unknown => JSON.parse(text);

describe('why', () => {
  test('prints the explanation of the session', async () => {
    const { worker, connect } = createCliStage();
    await runSession(worker, 's', 'look 1; say Found.');
    const { context, printed } = connect();
    expect(await why(context, ['s'])).toBe(0);
    expect(getText(printed)).toBe(`${(await worker.get('s')).explain()}\n`);
  });

  test('lists every evaluation of every step, and marks the one that decided', async () => {
    const { worker, connect } = createCliStage();
    await runSession(worker, 's', 'look 1; say Found.');
    const { context, printed } = connect();
    await why(context, ['s'], { trace: true });
    const lines = getText(printed).split('\n');
    const outcomes = (await worker.get('s')).state.stepResults.map(({ outcome }) => outcome);
    const count = outcomes.reduce((sum, { evaluations }) => sum + evaluations.length, 0);
    const table = lines.slice(lines.findIndex((line) => line.includes('CRITERION')) + 1, -3);
    expect(table).toHaveLength(count);
    const marked = table.filter((line) => /^\s*\d*\s+\*/.test(line));
    expect(marked.map((line) => /\*\s+(\S+)/.exec(line)?.[1])).toStrictEqual(outcomes.map(({ resolvedBy }) => resolvedBy));
  });

  test('explains several sessions, says which is unknown, and exits with 3', async () => {
    const { worker, connect } = createCliStage();
    await runSession(worker, 'a', 'say Hi.');
    await runSession(worker, 'b', 'say Hi.');
    const { context, printed } = connect({ json: true });
    expect(await why(context, ['a', 'nobody', 'b'])).toBe(3);
    expect(printed.out.map(json)).toMatchObject([{ sessionId: 'a' }, { sessionId: 'b', stopReason: 'completed', step: 1 }]);
    expect(printed.err.map(json)).toMatchObject([{ error: { code: 'unknown-session', exitCode: 3 } }]);
  });
});

describe('sessions', () => {
  test('lists sessions with their status and stop reason, or what they wait for', async () => {
    const { worker, connect } = createCliStage();
    await runSession(worker, 'done', 'say Hi.');
    await runSession(worker, 'parked', 'pay 5');
    const { context, printed } = connect({ columns: 100 });
    await listSessions(context, {});
    const [, first = '', second = ''] = getText(printed).split('\n');
    expect(first).toMatch(/^parked +waiting +approval: pay +0 /);
    expect(second).toMatch(/^done +completed +completed +1 /);
  });

  test('passes filters on', async () => {
    const { worker, connect } = createCliStage();
    await runSession(worker, 'done', 'say Hi.');
    await runSession(worker, 'parked', 'pay 5');
    const { context, printed } = connect({ json: true });
    await listSessions(context, { status: 'waiting' });
    expect(json(getText(printed))).toMatchObject({ sessions: [{ id: 'parked', waitingFor: [{ toolName: 'pay' }] }] });
  });

  test('never starts a line or a colour for a foreign id', async () => {
    const { worker, connect } = createCliStage();
    await worker.create({ id: 'x\n\u001b[31mfake  completed', tenant: '\u202e' }, { by: ann });
    const { context, printed } = connect();
    await listSessions(context, {});
    expect(getText(printed).split('\n')).toHaveLength(3);
    for (const unsafe of ['\u001b', '\u202e']) expect(getText(printed)).not.toContain(unsafe);
  });
});

describe('show and waits', () => {
  test('show the wait with its arguments, its digest and the command that answers it', async () => {
    const { worker, connect } = createCliStage();
    await runSession(worker, 's', 'pay 5');
    const [wait] = (await worker.get('s')).waitingFor;
    for (const run of [show, listWaits] as const) {
      const { context, printed } = connect();
      await (run === show ? show(context, 's') : listWaits(context, {}));
      const text = getText(printed);
      expect(text).toContain('{"amount":5}');
      expect(text).toContain(`stepline approve s ${String(wait?.id)} --digest ${String(wait?.digest)}`);
    }
  });

  test('replace secrets unless they are revealed', async () => {
    const { worker, connect } = createCliStage();
    const secret = 'sk-abcdefghijklmnopqrstuvwxyz123456';
    await runSession(worker, 's', `say The key is ${secret}`);
    const hidden = connect();
    await show(hidden.context, 's');
    await why(hidden.context, ['s'], { trace: true });
    await printEvents(hidden.context, 's');
    expect(getText(hidden.printed)).not.toContain(secret);
    expect(getText(hidden.printed)).toContain('[redacted]');
    const open = connect({ reveal: true });
    await show(open.context, 's');
    expect(getText(open.printed)).toContain(secret);
  });

  test('show lists the actions that wait for a worker', async () => {
    const { worker, connect } = createCliStage();
    await runSession(worker, 's', 'pay 5');
    await worker.drain();
    const { context, printed } = connect();
    await context.runtime.cancel('s', 'no', { by: ann, until: 'accepted' });
    await show(context, 's');
    expect(getText(printed)).toMatch(/Mailbox \(1\)\n {2}cancel by ann at .*, waits for a worker/);
  });
});

describe('events', () => {
  test('are a line each, with time, number, agent, step and what happened', async () => {
    const { worker, connect } = createCliStage();
    await runSession(worker, 's', 'look 1; say Found.');
    const { context, printed } = connect();
    await printEvents(context, 's', { all: true });
    const lines = getText(printed).trimEnd().split('\n');
    expect(lines).toHaveLength((await worker.get('s')).lastSeq);
    for (const line of lines) expect(line).toMatch(/^\d{4}-\d\d-\d\dT[\d:.]+Z +\d+ Agent \w+ \[\S+\]( step \d+)?: \S/);
    expect(getText(printed)).toContain('calls look {"amount":1}');
  });

  test('leave out those that repeat what others say, unless all are wanted', async () => {
    const { worker, connect } = createCliStage();
    await runSession(worker, 's', 'say Hi.');
    const { context, printed } = connect();
    await printEvents(context, 's');
    expect(getText(printed)).toContain('STOP (completed)');
    expect(getText(printed)).not.toMatch(/recorded|: used /);
  });

  test('begin with a number, and are JSON lines if wanted', async () => {
    const { worker, connect } = createCliStage();
    await runSession(worker, 's', 'say Hi.');
    const { context, printed } = connect({ json: true });
    await printEvents(context, 's', { from: 3 });
    const seqs = printed.out.map((line) => (json(line) as { seq: number }).seq);
    expect(seqs[0]).toBe(3);
    expect(seqs).toHaveLength((await worker.get('s')).lastSeq - 2);
  });

  test('are followed until the command is interrupted', async () => {
    const { worker, connect } = createCliStage();
    await runSession(worker, 's', 'say Hi.');
    const { context, printed } = connect();
    const interruption = new AbortController();
    const following = printEvents({ ...context, signal: interruption.signal }, 's', { follow: true, all: true });
    await worker.send('s', 'say Again.', { by: ann });
    const { lastSeq } = await worker.get('s');
    await expect.poll(() => printed.out.length).toBe(lastSeq);
    interruption.abort();
    expect(await following).toBe(0);
  });

  test('of an unknown session are refused', async () => {
    const { connect } = createCliStage();
    await refusal(printEvents(connect().context, 'nobody'), 'unknown-session');
  });
});
