// Chats in sessions: what agents can do there, conversations between several can do as well.
import fc from 'fast-check';
import { describe, expect, expectTypeOf, test } from 'vitest';
import { pickRuns, pickSubjects } from '../support/test-scale.ts';
import { subAgents } from '../../src/capabilities/index.ts';
import type { Chat } from '../../src/chat/index.ts';
import {
  byMention,
  agentParticipant,
  ChatState,
  createChat,
  functionParticipant,
  humanParticipant,
  llmParticipant,
  scriptedParticipant,
} from '../../src/chat/index.ts';
import type { BaseEvent } from '../../src/entry/index.ts';
import { AgentState, defineContext, createAgent, defineTool } from '../../src/entry/index.ts';
import type { SessionRuntimeOptions, SessionWait } from '../../src/sessions/index.ts';
import { computeApprovalDigest, createMemoryStore, createSessionRuntime } from '../../src/sessions/index.ts';
import { chatStageOn, inShort, linesIn, listSpeakers, turnsIn } from './chat-stage.ts';
import {
  readActions,
  ann,
  bob,
  createGate,
  dump,
  readEvents,
  newProcess,
  obedientModel,
  places,
  refusal,
  resultsRead,
  until,
  getWait,
} from './stage.ts';

describe.each(pickSubjects(places))('a chat over %s', (_, makePlace) => {
  const newStage = () => chatStageOn(makePlace());

  test('what is sent comes to a result, turn by turn', async () => {
    const stage = newStage();
    const runtime = await stage.open({ participants: [stage.clerk, stage.echo] });
    const turn = await runtime.send('one', 'note 5; say Noted.', { by: ann });
    expect(turn).toMatchObject({ status: 'completed', stopReason: 'completed', text: 'echo of Noted.', execution: 1, waitingFor: [] });
    expect(turn.usage.total).toBe(30);
    expect(await linesIn(runtime)).toStrictEqual(['input: note 5; say Noted.', 'clerk: Noted.', 'echo: echo of Noted.']);
    const { state, stepCount, agent } = await runtime.get('one');
    expect([listSpeakers(state), stepCount, agent.id]).toStrictEqual([['clerk', 'echo'], 2, 'room']);
    expect(turnsIn(state).steps[0]?.inner).toMatchObject({ stopReason: 'completed', stepCount: 2, calls: [{ tool: 'note' }] });
    expect(turn.explain()).toContain('echo');
    const again = await runtime.send('one', 'say Again.', { by: ann });
    expect(again).toMatchObject({ status: 'completed', execution: 2, text: 'echo of Again.' });
    expect(stage.problems).toStrictEqual([]);
  });

  test('its events have the speaker, live and stored, and are numbered without a gap', async () => {
    const stage = newStage();
    const heard: BaseEvent[] = [];
    const runtime = stage.start({
      agents: [stage.chat({ participants: [stage.clerk, stage.echo] })],
      onEvent: (event) => void heard.push(event),
    });
    await runtime.create({ id: 'one' }, { by: ann });
    await runtime.send('one', 'note 5; say Noted.', { by: ann });
    const events = await readEvents(runtime, 'one');
    expect(events.map(({ seq }) => seq)).toStrictEqual(events.map((_event, index) => index + 1));
    const chosen = events.filter(({ type }) => type === 'ParticipantSelected');
    expect(chosen).toMatchObject([
      { participant: 'clerk', selectedBy: 'round-robin', stepNumber: 1, orchestrator: 'chat' },
      { participant: 'echo', selectedBy: 'round-robin', stepNumber: 2, orchestrator: 'chat' },
    ]);
    const words = events.map(inShort);
    expect(words).toContain('clerk ToolCallCompleted');
    expect(words.filter((each) => each === 'clerk AgentStepCompleted').length).toBeGreaterThan(0);
    expect(words.filter((each) => each === 'echo AgentStepCompleted')).toHaveLength(1);
    // Whatever belongs to a turn has its speaker; only the user's message and that the run has begun have none.
    const nobody = events.filter(({ participant }) => participant === undefined).map(({ type }) => type);
    expect(nobody).toStrictEqual(['UserMessageReceived', 'AgentExecutionStarted']);
    for (const { stepNumber, participant, parentAgentId } of events)
      if (parentAgentId === null && stepNumber > 0) expect(participant).toBe(stepNumber === 1 ? 'clerk' : 'echo');
    // The run inside a turn says where it belongs, and belongs to its speaker.
    const inside = events.filter(({ parentAgentId }) => parentAgentId !== null);
    const { state } = await runtime.get('one');
    expect(new Set(inside.map((event) => JSON.stringify([event['parentAgentId'], event['participant']])))).toStrictEqual(
      new Set([JSON.stringify([state.agentId, 'clerk'])]),
    );
    expect(new Set(inside.map(({ agentId }) => agentId))).toStrictEqual(new Set([turnsIn(state).steps[0]?.inner?.agentId]));
    // What is stored is what was told.
    const numbered = heard.filter(({ type }) => !/Delta$/.test(type));
    expect(JSON.parse(JSON.stringify(numbered))).toStrictEqual(events.map((event) => ({ ...event })));
    const deltas = heard.filter(({ type }) => type === 'TextDelta') as readonly (BaseEvent & { readonly participant?: string })[];
    expect(new Set(deltas.map(({ participant }) => participant))).toStrictEqual(new Set(['clerk', 'echo']));
    // In another process the same is read.
    await runtime.drain();
    const next = stage.start({ agents: [stage.chat({ participants: [stage.clerk, stage.echo] })] });
    expect(await readEvents(next, 'one')).toStrictEqual(events);
    expect(await readEvents(next, 'one', 5)).toStrictEqual(events.slice(5));
  });

  test('events can be followed while it runs', async () => {
    const stage = newStage();
    const runtime = await stage.open();
    const leave = new AbortController();
    const read: string[] = [];
    const following = (async () => {
      for await (const event of runtime.events('one', { follow: true, signal: leave.signal })) read.push(inShort(event));
    })();
    await runtime.send('one', 'say Hello', { by: ann });
    await until(() => expect(read.at(-1)).toBe('boss AgentFinished'));
    await runtime.answer('one', await getWait(runtime, 'one'), { by: bob, value: 'Fine.' });
    await until(() => expect(read.at(-1)).toBe('echo AgentFinished'));
    leave.abort();
    await following;
    expect(read.filter((each) => each.endsWith('ParticipantSelected'))).toStrictEqual([
      'clerk ParticipantSelected',
      'boss ParticipantSelected',
      // Taken up again, with the words.
      'boss ParticipantSelected',
      'echo ParticipantSelected',
    ]);
  });

  test('a person is waited for: another process takes the words, and goes on to the end', async () => {
    const stage = newStage();
    const before = await stage.open();
    const turn = await before.send('one', 'note 5; say Noted.', { by: ann });
    expect(turn).toMatchObject({
      status: 'waiting',
      waitingFor: [{ type: 'person', id: 'boss/2', participant: 'boss', prompt: 'Well?', sessionId: 'one' }],
    });
    await before.drain();
    await stage.clock.advance(7 * 24 * 3_600_000);
    const runtime = stage.start({ agents: [stage.chat()] });
    expect((await runtime.ready).resumed).toStrictEqual([]);
    expect((await runtime.list()).sessions).toMatchObject([{ status: 'waiting', waitingFor: [{ type: 'person', id: 'boss/2' }] }]);
    const end = await runtime.answer('one', { id: 'boss/2' }, { by: bob, value: 'Fine.' });
    expect(end).toMatchObject({ status: 'completed', text: 'echo of Fine.', execution: 1 });
    expect(await linesIn(runtime)).toStrictEqual(['input: note 5; say Noted.', 'clerk: Noted.', 'boss: Fine.', 'echo: echo of Fine.']);
    expect([stage.ran, stage.model.calls.length, stage.echoed]).toStrictEqual([['note 5'], 2, ['echo of Fine.']]);
    expect((await readActions(stage.place.open(), 'one')).at(-1)).toMatchObject({
      type: 'answer',
      waitId: 'boss/2',
      value: 'Fine.',
      by: bob,
    });
    const chosen = (await readEvents(runtime, 'one')).map(inShort).filter((each) => each.endsWith('ParticipantSelected'));
    expect(chosen).toStrictEqual(['clerk', 'boss', 'boss', 'echo'].map((name) => `${name} ParticipantSelected`));
    const late = await refusal(runtime.answer('one', { id: 'boss/2' }, { by: ann, value: 'No!' }), 'late-answer');
    expect(late.message).toContain('staff bob');
  });

  test('words that are no text are asked for again, and nothing is lost', async () => {
    const stage = newStage();
    const runtime = await stage.open();
    await runtime.send('one', 'say Hello', { by: ann });
    const wait = await getWait(runtime, 'one');
    const turn = await runtime.answer('one', wait, { by: bob, value: { not: 'text' } });
    expect(turn).toMatchObject({ status: 'waiting', waitingFor: [{ type: 'person', id: 'boss/2' }] });
    expect(turn.waitingFor[0]).toMatchObject({ problem: expect.stringMatching(/text/) as string });
    expect((await runtime.answer('one', await getWait(runtime, 'one'), { by: bob, value: '' })).status).toBe('completed');
    expect(await linesIn(runtime)).toStrictEqual(['input: say Hello', 'clerk: Hello', 'boss: ', 'echo: echo of ']);
  });

  test.each([
    ['approved', (wait: SessionWait) => ({ ...wait })],
    ['approved with a digest of nothing', (wait: SessionWait) => ({ ...wait, digest: 'x' })],
  ])('a person who is waited for cannot be %s', async (_name, toWait) => {
    const stage = newStage();
    const runtime = await stage.open();
    await runtime.send('one', 'say Hello', { by: ann });
    const wait = await getWait(runtime, 'one');
    const before = await dump(stage.place.open());
    const [settled] = await Promise.allSettled([runtime.approve('one', toWait(wait), { by: bob })]);
    expect(settled).toMatchObject({ status: 'rejected', reason: { code: expect.stringMatching(/invalid-argument|forged/) as string } });
    expect(await dump(stage.place.open())).toStrictEqual(before);
  });

  test('a person may refuse to speak, and that is recorded in words', async () => {
    const stage = newStage();
    const runtime = await stage.open();
    await runtime.send('one', 'say Hello', { by: ann });
    const [settled] = await Promise.allSettled([runtime.reject('one', await getWait(runtime, 'one'), { by: bob, reason: 'on holiday' })]);
    // Refused with a reason and waiting on, or taken: never waiting for ever behind an answer that was taken.
    const { status, waitingFor } = await runtime.get('one');
    if (settled.status === 'rejected') expect([status, waitingFor.map(({ id }) => id)]).toStrictEqual(['waiting', ['boss/2']]);
    else expect(status).not.toBe('waiting');
  });

  test('a message to a chat that waits closes the wait, and the others go on', async () => {
    const stage = newStage();
    const before = await stage.open();
    await before.send('one', 'say Hello', { by: ann });
    await before.drain();
    const runtime = stage.start({ agents: [stage.chat()] });
    const turn = await runtime.send('one', 'say Never mind.', { by: ann });
    // The round goes on behind the person whose turn was given up; then it is asked again.
    expect(turn.status).toBe('waiting');
    const { state } = await runtime.get('one');
    expect(
      turnsIn(state)
        .session.executions.flatMap(({ results }) => results.toArray())
        .map(({ step }) => [step.participant, step.interrupted]),
    ).toStrictEqual([
      ['clerk', undefined],
      ['boss', 'superseded'],
      ['echo', undefined],
      ['clerk', undefined],
    ]);
    expect(await linesIn(runtime)).toStrictEqual([
      'input: say Hello',
      'clerk: Hello',
      'input: say Never mind.',
      'echo: echo of say Never mind.',
      'clerk: [echo] echo of say Never mind.',
    ]);
    const [wait] = turn.waitingFor;
    expect((await runtime.answer('one', { id: wait?.id ?? '' }, { by: bob, value: 'Now.' })).status).toBe('completed');
  });

  test('words for a person whose turn was closed meanwhile are late, as an approval is', async () => {
    const stage = newStage();
    const runtime = await stage.open();
    const { waitingFor } = await runtime.send('one', 'say Hello', { by: ann });
    await runtime.cancel('one', 'enough', { by: bob });
    const { message } = await refusal(runtime.answer('one', waitingFor[0] as SessionWait, { by: bob, value: 'Fine.' }), 'late-answer');
    expect(message).toContain('closed without an answer');
  });

  test('the wait of an earlier execution is not taken for a later one of the same name', async () => {
    const stage = newStage();
    const runtime = await stage.open();
    const { waitingFor } = await runtime.send('one', 'say Hello', { by: ann });
    // Holds: it waits.
    const old = waitingFor[0] as SessionWait;
    await runtime.answer('one', old, { by: bob, value: 'Fine.' });
    const again = await runtime.send('one', 'say Again', { by: ann });
    const shown = again.waitingFor[0] as SessionWait;
    expect([again.execution, shown.digest === old.digest]).toStrictEqual([2, false]);
    const [settled] = await Promise.allSettled([runtime.answer('one', old, { by: bob, value: 'Fine.' })]);
    expect(settled.status).toBe('rejected');
    expect((await runtime.answer('one', shown, { by: bob, value: 'Fine again.' })).status).toBe('completed');
    expect((await linesIn(runtime)).filter((line) => line.startsWith('boss'))).toStrictEqual(['boss: Fine.', 'boss: Fine again.']);
  });

  test('the wait of an earlier execution is told to be late, and has another id than the one that is asked for now', async () => {
    const stage = newStage();
    const runtime = await stage.open();
    const { waitingFor } = await runtime.send('one', 'say Hello', { by: ann });
    const old = waitingFor[0] as SessionWait;
    await runtime.answer('one', old, { by: bob, value: 'Fine.' });
    expect((await runtime.send('one', 'say Again', { by: ann })).waitingFor[0]?.id).not.toBe(old.id);
    await refusal(runtime.answer('one', old, { by: bob, value: 'Fine.' }), 'late-answer');
  });

  test('words that come before the person is asked are kept, and used when the turn comes', async () => {
    const stage = newStage();
    const runtime = await stage.open();
    const sent = runtime.send('one', 'slow 2; say Done.', { by: ann });
    await stage.gate.current.reached;
    const early = runtime.answer('one', { id: 'boss/2' }, { by: bob, value: 'Fine.' });
    await until(async () => expect((await readActions(stage.place.open(), 'one')).at(-1)).toMatchObject({ type: 'answer' }));
    stage.gate.current.open();
    expect([(await early).status, (await sent).execution]).toStrictEqual(['completed', 1]);
    expect((await linesIn(runtime)).slice(1)).toStrictEqual(['clerk: Done.', 'boss: Fine.', 'echo: echo of Fine.']);
  });

  test('a person who is asked by a callback and has not answered when the process ends is asked again by the next', async () => {
    const stage = newStage();
    const asked: string[] = [];
    const room = (answers: boolean): Chat => {
      const reply = (): Promise<string> => {
        asked.push('?');
        return answers ? Promise.resolve('Here.') : new Promise(() => undefined);
      };
      return stage.chat({ participants: [stage.clerk, humanParticipant({ name: 'guest', reply }), stage.echo] });
    };
    const before = stage.start({ agents: [room(false)] });
    await before.create({ id: 'one' }, { by: ann });
    await before.send('one', 'note 1; say Hello', { by: ann, until: 'accepted' });
    await until(() => expect(asked).toHaveLength(1));
    const runtime = stage.start({ agents: [room(true)] });
    expect((await runtime.ready).resumed).toStrictEqual(['one']);
    await until(async () => expect((await runtime.get('one')).status).toBe('completed'));
    expect((await linesIn(runtime)).slice(1)).toStrictEqual(['clerk: Hello', 'guest: Here.', 'echo: echo of Here.']);
    expect([asked, stage.ran]).toStrictEqual([['?', '?'], ['note 1']]);
  });

  test('a runtime that drains lets the turn end, and the next one goes on with the next speaker', async () => {
    const stage = newStage();
    const before = await stage.open({ participants: [stage.clerk, stage.echo] });
    const sent = before.send('one', 'slow 2; say Done.', { by: ann });
    sent.catch(() => undefined);
    await stage.gate.current.reached;
    const drained = before.drain();
    stage.gate.current.open();
    await drained;
    expect(stage.echoed).toStrictEqual([]);
    const runtime = stage.start({ agents: [stage.chat({ participants: [stage.clerk, stage.echo] })] });
    expect((await runtime.ready).resumed).toStrictEqual(['one']);
    await until(async () => expect((await runtime.get('one')).status).toBe('completed'));
    expect(await linesIn(runtime)).toStrictEqual(['input: slow 2; say Done.', 'clerk: Done.', 'echo: echo of Done.']);
    expect([stage.ran, stage.model.calls.length]).toStrictEqual([['slow 2'], 2]);
  });

  test('a chat that is told to throw for failures fails in a session like any other, and goes on after it', async () => {
    const stage = newStage();
    const clumsy = functionParticipant({
      name: 'clumsy',
      speak: ({ state }) => {
        if (state.messages.at(-1)?.text === 'Trip.') throw new Error('stumbled');
        return 'Steady.';
      },
    });
    const runtime = await stage.open({ participants: [clumsy, stage.echo], throwOnFailure: true });
    const [settled] = await Promise.allSettled([runtime.send('one', 'Trip.', { by: ann })]);
    expect(settled).toMatchObject(
      settled.status === 'fulfilled' ? { value: { status: 'failed' } } : { reason: { code: 'conversation-failed' } },
    );
    expect((await runtime.get('one')).status).toBe('failed');
    await runtime.send('one', 'Go on.', { by: ann });
    expect((await runtime.get('one')).status).toBe('completed');
    expect(await linesIn(runtime)).toStrictEqual(['input: Trip.', 'input: Go on.', 'clumsy: Steady.', 'echo: echo of Steady.']);
    expect((await runtime.list()).sessions.every((session) => !('damage' in session))).toBe(true);
  });

  test('a failure is a value in a session, also where the chat is told to throw', async () => {
    const stage = newStage();
    const clumsy = functionParticipant({
      name: 'clumsy',
      speak: () => {
        throw new Error('stumbled');
      },
    });
    const runtime = await stage.open({ participants: [clumsy], throwOnFailure: true });
    expect((await runtime.send('one', 'Trip.', { by: ann })).status).toBe('failed');
    // What the function threw, with its stack; nothing about the session.
    expect(stage.problems).toMatchObject([{ message: 'stumbled' }]);
  });

  test.each([false, true])('what was said during a turn that fails is read all the same; the chat throws: %s', async (throwOnFailure) => {
    const stage = newStage();
    const gate = createGate();
    const clumsy = functionParticipant({
      name: 'clumsy',
      speak: async ({ state }) => {
        if (state.messages.at(-1)?.text !== 'Trip.') return 'Steady.';
        gate.reach();
        await gate.passed;
        throw new Error('stumbled');
      },
    });
    const runtime = await stage.open({ participants: [clumsy], throwOnFailure });
    await runtime.send('one', 'Trip.', { by: ann, until: 'accepted' });
    await gate.reached;
    await runtime.send('one', 'Go on.', { by: ann, until: 'accepted' });
    gate.open();
    await until(async () => expect(await linesIn(runtime)).toStrictEqual(['input: Trip.', 'input: Go on.', 'clumsy: Steady.']));
  });

  test('whatever is done to it in whatever order, turns and messages stay one to one, and the next process finds the same', async () => {
    const possible = [
      'note 1; say Noted.',
      'pay 5; say Paid.',
      'pay 1 & pay 2; say Both.',
      'say Hello',
      'answer',
      'approve',
      'reject',
      'cancel',
      'restart',
      'resume',
    ];
    await fc.assert(
      fc.asyncProperty(fc.array(fc.constantFrom(...possible), { minLength: 1, maxLength: 14 }), async (requests) => {
        const stage = newStage();
        let runtime = await stage.open();
        let approvals = 0;
        const perform = async (request: string): Promise<unknown> => {
          const { waitingFor } = await runtime.get('one');
          const [call, person] = [waitingFor.find(({ type }) => type === 'approval'), waitingFor.find(({ type }) => type === 'person')];
          switch (request) {
            case 'answer':
              return person && runtime.answer('one', person, { by: bob, value: 'Fine.' });
            case 'approve':
              approvals += call === undefined ? 0 : 1;
              return call && runtime.approve('one', call, { by: bob });
            case 'reject':
              return call && runtime.reject('one', call, { by: bob });
            case 'cancel':
              return runtime.cancel('one', 'enough', { by: bob });
            case 'resume':
              return runtime.resume('one', { by: bob });
            case 'restart': {
              const before = JSON.parse(JSON.stringify((await runtime.get('one')).state)) as unknown;
              await runtime.drain();
              runtime = stage.start({ agents: [stage.chat()] });
              expect(JSON.parse(JSON.stringify((await runtime.get('one')).state))).toStrictEqual(before);
              return undefined;
            }
            default:
              return runtime.send('one', request, { by: ann });
          }
        };
        for (const request of requests) await perform(request);
        const state = turnsIn((await runtime.get('one')).state);
        const steps = state.session.executions.flatMap(({ results }) => results.toArray().map(({ step }) => step));
        expect(steps.every(({ outputMessages, interrupted }) => outputMessages.length === (interrupted === undefined ? 1 : 0))).toBe(true);
        const spoken = steps.flatMap(({ participant, outputMessages }) => outputMessages.map(() => participant));
        expect(state.transcript.flatMap(({ speaker }) => speaker ?? [])).toStrictEqual(spoken);
        expect(steps.every(({ memo, participant }) => memo === undefined && participant !== undefined)).toBe(true);
        expect(stage.ran.filter((each) => each.startsWith('pay'))).toHaveLength(approvals);
        const events = await readEvents(runtime, 'one');
        expect(events.map(({ seq }) => seq)).toStrictEqual(events.map((_event, index) => index + 1));
        expect(stage.problems).toStrictEqual([]);
      }),
      { numRuns: pickRuns({ quick: 30, slow: 60 }) },
    );
  }, 30_000);

  describe('approvals inside a turn', () => {
    async function park(words = 'pay 5; say Paid.') {
      const stage = newStage();
      const before = await stage.open();
      const turn = await before.send('one', words, { by: ann });
      expect(turn.status).toBe('waiting');
      await before.drain();
      const runtime = stage.start({ agents: [stage.chat()] });
      const { waitingFor } = await runtime.get('one');
      // Holds: it waits.
      return { ...stage, runtime, waitingFor, wait: waitingFor[0] as SessionWait };
    }

    test('are asked at the top under an id that leads back, bound to what was shown', async () => {
      const { runtime, wait, ran, keys } = await park();
      expect(wait).toMatchObject({ type: 'approval', toolName: 'pay', args: { amount: 5 }, agent: 'clerk' });
      expect(wait.id).toMatch(/^clerk\/c\d-0$/);
      expect(wait.digest).toBe(await computeApprovalDigest('one', { ...wait, execution: 1, step: 1 }));
      const turn = await runtime.approve('one', wait, { by: bob });
      expect([ran, turn.waitingFor.map(({ id }) => id)]).toStrictEqual([['pay 5'], ['boss/2']]);
      expect(keys[0]).toMatch(/^one\/1\/1\//);
      expect(await linesIn(runtime)).toStrictEqual(['input: pay 5; say Paid.', 'clerk: Paid.']);
      const { state } = await runtime.get('one');
      expect(turnsIn(state).steps[0]).toMatchObject({ participant: 'clerk', inner: { calls: [{ tool: 'pay', status: 'succeeded' }] } });
      expect(turnsIn(state).steps[0]?.memo).toBeUndefined();
      expect(turnsIn(state).usage.total).toBe(30);
    });

    test('forged ones, and ones under a wrong id, are refused and nothing changes', async () => {
      const { runtime, wait, place, ran } = await park();
      const before = await dump(place.open());
      await refusal(runtime.approve('one', { ...wait, digest: 'no' }, { by: bob }), 'forged-approval');
      await refusal(runtime.approve('one', { ...wait, id: wait.id.replace('clerk/', '') }, { by: bob }), 'not-waiting');
      await refusal(runtime.approve('one', { ...wait, id: wait.id.replace('clerk/', 'boss/') }, { by: bob }), 'not-waiting');
      expect([await dump(place.open()), ran]).toStrictEqual([before, []]);
    });

    test('come with other arguments, which the tool gets', async () => {
      const { runtime, wait, ran } = await park();
      await runtime.approve('one', wait, { by: bob, args: { amount: 7 } });
      expect(ran).toStrictEqual(['pay 7']);
    });

    test('with arguments that do not fit are refused at once, as with an agent, and the call still waits', async () => {
      const { runtime, wait, ran, place } = await park();
      const before = await dump(place.open());
      const { message } = await refusal(runtime.approve('one', wait, { by: bob, args: { amount: 'all' } }), 'invalid-argument');
      expect(message).toMatch(/"pay".*amount.*still waiting/s);
      expect(await dump(place.open())).toStrictEqual(before);
      await runtime.approve('one', await getWait(runtime, 'one'), { by: bob });
      expect(ran).toStrictEqual(['pay 5']);
    });

    test('with arguments that do not fit never reach the tool, and the call can still be approved', async () => {
      const { runtime, wait, ran } = await park();
      await Promise.allSettled([runtime.approve('one', wait, { by: bob, args: { amount: 'all' } })]);
      const again = await getWait(runtime, 'one');
      expect([again.id, again.digest, ran]).toStrictEqual([wait.id, wait.digest, []]);
      await runtime.approve('one', again, { by: bob });
      expect(ran).toStrictEqual(['pay 5']);
    });

    test('where two have a tool of the same name, arguments that fit one of them are not refused', async () => {
      const { clerk, chat } = newStage();
      const other = defineTool({
        name: 'pay',
        description: 'Pays in words.',
        input: { type: 'object', properties: { words: { type: 'string' } }, required: ['words'] },
        run: () => 'paid',
      });
      const room = chat({ participants: [clerk, llmParticipant({ name: 'other', model: obedientModel(), tools: [other] })] });
      expect(await room.checkArgs('pay', { amount: 5 })).toBeUndefined();
      expect(await room.checkArgs('pay', { words: 'five' })).toBeUndefined();
      expect(await room.checkArgs('nobody_has_it', {})).toBeUndefined();
      expect(await room.checkArgs('note', { neither: 5 })).toMatch(/amount/);
      expect(await room.checkArgs('note', { amount: 5 })).toBeUndefined();
    });

    test('are refused for a reason, which the model reads', async () => {
      const { runtime, wait, ran, model } = await park();
      const turn = await runtime.reject('one', wait, { by: bob, reason: 'too dear' });
      expect([ran, turn.waitingFor.map(({ id }) => id)]).toStrictEqual([[], ['boss/2']]);
      expect(JSON.stringify(model.calls.at(-1)?.messages)).toContain('too dear');
    });

    test('one of two: that call runs, the other waits on, also in the next process', async () => {
      const { runtime, ran, start, chat, model, waitingFor } = await park('pay 5 & pay 6; say Paid.');
      const [first, second] = waitingFor;
      if (first === undefined || second === undefined) throw new Error('two calls should wait');
      const turn = await runtime.approve('one', second, { by: bob });
      expect([ran, turn.waitingFor.map(({ id }) => id)]).toStrictEqual([['pay 6'], [first.id]]);
      await runtime.drain();
      const next = start({ agents: [chat()] });
      const shown = await getWait(next, 'one');
      expect(shown.digest).toBe(first.digest);
      await next.approve('one', shown, { by: ann });
      expect([ran, model.calls.length]).toStrictEqual([['pay 6', 'pay 5'], 2]);
      expect(await linesIn(next)).toStrictEqual(['input: pay 5 & pay 6; say Paid.', 'clerk: Paid.']);
    });

    test('a tool of the client is answered through the speaker', async () => {
      const { runtime, wait, model } = await park('ask 1; say Thanks.');
      expect(wait).toMatchObject({ type: 'client-tool', toolName: 'ask', agent: 'clerk', id: expect.stringMatching(/^clerk\//) as string });
      await runtime.answer('one', wait, { by: ann, value: { clicked: true } });
      expect(resultsRead(model)).toStrictEqual([{ type: 'json', value: { clicked: true } }]);
      expect(await linesIn(runtime)).toStrictEqual(['input: ask 1; say Thanks.', 'clerk: Thanks.']);
    });

    test('a call that was cut off is settled by a person, and never runs again', async () => {
      const stage = newStage();
      const careful = llmParticipant({ name: 'clerk', model: stage.model, tools: Object.values(stage.tools), onUnknown: 'ask' });
      const room = (): Chat => stage.chat({ participants: [careful, stage.echo] });
      const before = stage.start({ agents: [room()] });
      await before.create({ id: 'one' }, { by: ann });
      await before.send('one', 'slow 3; say Done.', { by: ann, until: 'accepted' });
      await stage.gate.current.reached;
      stage.gate.current = createGate();
      const runtime = stage.start({ agents: [room()] });
      await until(async () => expect((await runtime.get('one')).status).toBe('waiting'));
      const wait = await getWait(runtime, 'one');
      expect(wait).toMatchObject({ type: 'unknown-call', toolName: 'slow', args: { amount: 3 }, agent: 'clerk' });
      const end = await runtime.answer('one', wait, { by: bob, value: 'it was done' });
      expect([end.status, stage.ran]).toStrictEqual(['completed', []]);
      expect(await linesIn(runtime)).toStrictEqual(['input: slow 3; say Done.', 'clerk: Done.', 'echo: echo of Done.']);
    });

    test('of a sub-agent of an agent that takes part are asked at the top, and reach the tool inside after a restart', async () => {
      const stage = newStage();
      const ports = { clock: stage.clock, ids: stage.ids };
      const room = (): Chat => {
        const agent = createAgent({
          id: 'top',
          model: stage.model,
          capabilities: [subAgents({ agents: { helper: { agent: stage.agent(), description: 'Helps.' } } })],
          ports,
        });
        return stage.chat({ participants: [agentParticipant({ name: 'chief', agent }), stage.echo] });
      };
      const before = stage.start({ agents: [room()] });
      await before.create({ id: 'one' }, { by: ann });
      await before.send('one', 'spawn_subagent pay 5; say Done.', { by: ann });
      await before.drain();
      const runtime = stage.start({ agents: [room()] });
      const wait = await getWait(runtime, 'one');
      expect(wait).toMatchObject({ type: 'approval', toolName: 'pay', agent: 'chief/helper' });
      expect(wait.id.split('/')).toHaveLength(3);
      const end = await runtime.approve('one', wait, { by: bob, args: { amount: 6 } });
      expect([end.status, end.text, stage.ran]).toStrictEqual(['completed', 'echo of Done.', ['pay 6']]);
      expect(stage.keys[0]).toMatch(/^one\/1\/1\//);
    });

    test('a message closes them: nothing is paid', async () => {
      const { runtime, wait, ran } = await park();
      const turn = await runtime.send('one', 'say Stop', { by: ann });
      expect(ran).toStrictEqual([]);
      await refusal(runtime.approve('one', wait, { by: bob }), 'late-answer');
      // The clerk has lost its turn; the round goes on behind it, and it still has its say.
      expect(turn.waitingFor.map(({ id }) => id.split('/')[0])).toStrictEqual(['boss']);
      const { state } = await runtime.get('one');
      expect(
        turnsIn(state)
          .session.executions.flatMap(({ results }) => results.toArray())
          .map(({ step }) => step.memo),
      ).toStrictEqual([undefined]);
    });

    test('that nobody gives are settled in time', async () => {
      const stage = newStage();
      const runtime = stage.start({ agents: [stage.chat()], approvals: { expireAfterMs: 1000 } });
      await runtime.create({ id: 'one' }, { by: ann });
      const turn = await runtime.send('one', 'pay 5; say Tried.', { by: ann });
      expect(turn.waitingFor[0]?.expiresAt).toBe(stage.clock.now() + 1000);
      await stage.clock.advance(1000);
      await until(async () => expect((await runtime.get('one')).waitingFor.map(({ id }) => id)).toStrictEqual(['boss/2']));
      expect([stage.ran, (await getWait(runtime, 'one')).expiresAt]).toStrictEqual([[], undefined]);
    });
  });

  describe('cancel', () => {
    test('ends what waits, and what follows begins anew', async () => {
      const stage = newStage();
      const runtime = await stage.open();
      await runtime.send('one', 'say Hello', { by: ann });
      const turn = await runtime.cancel('one', 'enough', { by: bob });
      expect(turn).toMatchObject({ status: 'stopped', stopReason: 'user_requested', waitingFor: [] });
      expect(await linesIn(runtime)).toStrictEqual(['input: say Hello', 'clerk: Hello']);
      const next = await runtime.send('one', 'say On', { by: ann });
      expect([next.execution, next.status]).toStrictEqual([2, 'waiting']);
    });

    test('ends a turn under way, and the conversation is whole', async () => {
      const stage = newStage();
      const runtime = await stage.open();
      const sent = runtime.send('one', 'note 1; slow 2; say Done.', { by: ann });
      await stage.gate.current.reached;
      const turn = await runtime.cancel('one', 'enough', { by: bob });
      expect(turn).toMatchObject({ status: 'stopped', stopReason: 'user_requested' });
      expect((await sent).status).toBe('stopped');
      expect(await linesIn(runtime)).toStrictEqual(['input: note 1; slow 2; say Done.']);
      const { state } = await runtime.get('one');
      expect(turnsIn(state).steps).toMatchObject([{ participant: 'clerk', errors: [] }]);
      expect((await runtime.send('one', 'say On', { by: ann })).execution).toBe(2);
      // A turn that was cut off before a word was not taken: the clerk has it again.
      expect(await linesIn(runtime)).toStrictEqual(['input: note 1; slow 2; say Done.', 'input: say On', 'clerk: On']);
    });
  });

  describe('forks', () => {
    test('after a turn: the others go on under the fork, and the source stays as it is', async () => {
      const stage = newStage();
      const runtime = await stage.open();
      await runtime.send('one', 'note 5; say Noted.', { by: ann });
      await runtime.answer('one', { id: 'boss/2' }, { by: bob, value: 'Fine.' });
      const source = await linesIn(runtime);
      const fork = await runtime.fork('one', { execution: 1, step: 1 }, { by: bob, id: 'fork' });
      expect([fork.status, await linesIn(runtime, 'fork')]).toStrictEqual(['in_progress', source.slice(0, 2)]);
      const turn = await runtime.resume('fork', { by: bob });
      expect(turn.waitingFor).toMatchObject([{ id: 'boss/2', sessionId: 'fork' }]);
      const end = await runtime.answer('fork', { id: 'boss/2' }, { by: bob, value: 'No.' });
      expect([end.status, end.text]).toStrictEqual(['completed', 'echo of No.']);
      expect(await linesIn(runtime, 'fork')).toStrictEqual([...source.slice(0, 2), 'boss: No.', 'echo: echo of No.']);
      expect([await linesIn(runtime), stage.ran]).toStrictEqual([source, ['note 5']]);
      const events = await readEvents(runtime, 'fork');
      expect(events.map(({ seq }) => seq)).toStrictEqual(events.map((_event, index) => index + 1));
      const own = events.filter(({ seq }) => seq > fork.lastSeq);
      expect(new Set(own.map(({ executionId }) => executionId))).toStrictEqual(new Set(['fork/1']));
    });

    test('of a script say the words that are next', async () => {
      const stage = newStage();
      const reader = scriptedParticipant({ name: 'reader', says: ['one', 'two', 'three'] });
      const runtime = await stage.open({ participants: [reader, stage.echo] });
      await runtime.send('one', 'Go.', { by: ann });
      await runtime.send('one', 'On.', { by: ann });
      await runtime.fork('one', { execution: 1, step: 2 }, { by: bob, id: 'fork' });
      await runtime.send('fork', 'Otherwise.', { by: ann });
      expect((await linesIn(runtime, 'fork')).filter((line) => line.startsWith('reader'))).toStrictEqual(['reader: one', 'reader: two']);
    });
  });

  describe('what is said during a turn', () => {
    test('joins at the boundary, in the same execution, and everyone answers to it', async () => {
      const stage = newStage();
      const runtime = await stage.open({ participants: [stage.clerk, stage.echo] });
      const sent = runtime.send('one', 'slow 2; say Done.', { by: ann });
      await stage.gate.current.reached;
      const second = runtime.send('one', 'say And this.', { by: ann });
      await until(async () => expect((await readActions(stage.place.open(), 'one')).filter(({ type }) => type === 'send')).toHaveLength(2));
      stage.gate.current.open();
      expect([(await sent).execution, (await second).execution]).toStrictEqual([1, 1]);
      expect(await linesIn(runtime)).toStrictEqual([
        'input: slow 2; say Done.',
        'clerk: Done.',
        'input: say And this.',
        'echo: echo of say And this.',
        'clerk: [echo] echo of say And this.',
      ]);
    });

    test('survives the process', async () => {
      const stage = newStage();
      const before = await stage.open({ participants: [stage.clerk, stage.echo] });
      await before.send('one', 'slow 2; say Done.', { by: ann, until: 'accepted' });
      await stage.gate.current.reached;
      await before.send('one', 'say And this.', { by: ann, until: 'accepted' });
      stage.gate.current = createGate();
      const runtime = stage.start({ agents: [stage.chat({ participants: [stage.clerk, stage.echo] })] });
      await until(async () => expect((await runtime.get('one')).status).toBe('completed'));
      expect((await linesIn(runtime)).slice(0, 4)).toStrictEqual([
        'input: slow 2; say Done.',
        'clerk: Done.',
        'input: say And this.',
        'echo: echo of say And this.',
      ]);
      expect(stage.ran).toStrictEqual([]);
    });
  });

  test('limits can be raised where a chat was told to wait at them', async () => {
    const stage = newStage();
    const more = { participants: [stage.clerk, stage.echo], limits: { steps: 1, onLimit: 'pause' } } as const;
    const before = await stage.open(more);
    expect((await before.send('one', 'say Hello', { by: ann })).waitingFor).toMatchObject([{ type: 'grant' }]);
    await before.drain();
    const runtime = stage.start({ agents: [stage.chat(more)] });
    expect(await runtime.grant('one', { steps: 1 }, { by: bob })).toMatchObject({ status: 'completed', text: 'echo of Hello' });
  });

  test('the same request has no effect twice', async () => {
    const stage = newStage();
    const runtime = await stage.open();
    await runtime.send('one', 'say Hello', { by: ann, requestId: 'a' });
    const wait = await getWait(runtime, 'one');
    for (const isRepeated of [undefined, true])
      expect((await runtime.answer('one', wait, { by: bob, value: 'Fine.', requestId: 'b' })).isRepeated).toBe(isRepeated);
    expect(await linesIn(runtime)).toHaveLength(4);
  });

  test('a model that fails: the turn is recorded for its speaker, and the session can be spoken to again', async () => {
    const stage = newStage();
    const mute = llmParticipant({
      name: 'mute',
      model: { ...stage.model, generate: () => Promise.reject(new Error('down')), stream: () => Promise.reject(new Error('down')) },
    });
    const runtime = await stage.open({ participants: [mute, stage.echo] });
    const turn = await runtime.send('one', 'say Hello', { by: ann });
    expect(turn.status).toBe('failed');
    const { state } = await runtime.get('one');
    expect(turnsIn(state).steps).toMatchObject([{ participant: 'mute', errors: [{ message: expect.stringContaining('down') as string }] }]);
    expect(await linesIn(runtime)).toStrictEqual(['input: say Hello']);
    // The turn was not taken: whoever failed has it again.
    expect((await runtime.send('one', 'Again', { by: ann })).execution).toBe(2);
    expect(turnsIn((await runtime.get('one')).state).steps).toMatchObject([{ participant: 'mute' }]);
  });

  test('two people are waited for one after the other', async () => {
    const stage = newStage();
    const second = humanParticipant({ name: 'clerk2' });
    const runtime = await stage.open({ participants: [stage.boss, second] });
    await runtime.send('one', 'Who?', { by: ann });
    await refusal(runtime.answer('one', { id: 'clerk2/1' }, { by: bob, value: 'Me.' }), 'not-waiting');
    expect((await runtime.answer('one', { id: 'boss/1' }, { by: bob, value: 'Me.' })).waitingFor).toMatchObject([{ id: 'clerk2/2' }]);
    expect((await runtime.answer('one', { id: 'clerk2/2' }, { by: bob, value: 'Me too.' })).status).toBe('completed');
    expect(await linesIn(runtime)).toStrictEqual(['input: Who?', 'boss: Me.', 'clerk2: Me too.']);
  });

  test('a chat of one needs nobody else', async () => {
    const stage = newStage();
    const chat = createChat({ id: 'room', participants: [stage.echo], ports: { clock: stage.clock, ids: stage.ids } });
    const runtime = stage.start({ agents: [chat] });
    await runtime.create({ id: 'one' }, { by: ann });
    expect((await runtime.send('one', 'Hello', { by: ann })).text).toBe('echo of Hello');
  });

  describe('a newer release', () => {
    const identity = ({ id, version, fingerprint }: Chat) => ({ id, version, fingerprint });
    const policies = ['pin', 'continue', 'refuse'] as const;

    /** Waits for the boss, or for an approval, under the first release. */
    async function parkedByOne(words = 'say Hello') {
      const stage = newStage();
      const one = stage.chat({ version: '1' });
      const two = stage.chat({ version: '2', limits: { steps: 12 } });
      const before = stage.start({ agents: [one] });
      await before.create({ id: 'one' }, { by: ann });
      const turn = await before.send('one', words, { by: ann });
      expect(turn.status).toBe('waiting');
      await before.drain();
      return { ...stage, one, two, wait: turn.waitingFor[0] as SessionWait };
    }

    test.each(policies)('%s: the same release goes on', async (onVersionChange) => {
      const { one, wait, start } = await parkedByOne();
      const runtime = start({ agents: [one], onVersionChange });
      expect((await runtime.answer('one', wait, { by: bob, value: 'Fine.' })).status).toBe('completed');
      const { execution } = (await runtime.get('one')).state;
      expect([execution.agent, execution.resumedBy]).toStrictEqual([identity(one), undefined]);
    });

    test.each(policies)('%s: what waits for a person', async (onVersionChange) => {
      const { one, two, wait, start, place } = await parkedByOne();
      const before = await dump(place.open());
      const runtime = start({ agents: [two], onVersionChange });
      const answering = runtime.answer('one', wait, { by: bob, value: 'Fine.' });
      if (onVersionChange !== 'continue') {
        expect((await refusal(answering, 'agent-changed')).message).toMatch(/version 1 .*version 2 /);
        expect(await dump(place.open())).toStrictEqual(before);
        // The release that began it finishes it.
        const back = start({ agents: [one], onVersionChange });
        expect((await back.answer('one', wait, { by: bob, value: 'Fine.' })).status).toBe('completed');
        return;
      }
      expect(await answering).toMatchObject({ status: 'completed', execution: 1, text: 'echo of Fine.' });
      const { execution } = (await runtime.get('one')).state;
      expect([execution.agent, execution.resumedBy]).toStrictEqual([identity(one), [identity(two)]]);
    });

    test.each(policies)('%s: both releases are there', async (onVersionChange) => {
      const { one, two, wait, start } = await parkedByOne();
      const runtime = start({ agents: [one, two], onVersionChange });
      expect((await runtime.create({ id: 'new' }, { by: ann })).agent).toStrictEqual(identity(two));
      if (onVersionChange === 'refuse') {
        await refusal(runtime.answer('one', wait, { by: bob, value: 'Fine.' }), 'agent-changed');
        return;
      }
      expect((await runtime.answer('one', wait, { by: bob, value: 'Fine.' })).status).toBe('completed');
      expect((await runtime.get('one')).agent).toStrictEqual(identity(onVersionChange === 'pin' ? one : two));
    });

    test('a chat without a version is told apart by its participants, its selector and its rules', async () => {
      const { chat, clerk, boss, echo } = newStage();
      const other = humanParticipant({ name: 'chief' });
      const same = [chat(), chat()].map(({ fingerprint }) => fingerprint);
      expect(same[0]).toBe(same[1]);
      const different = [
        chat(),
        chat({ participants: [clerk, boss] }),
        chat({ participants: [boss, clerk, echo] }),
        chat({ participants: [clerk, boss, other] }),
        chat({ selector: byMention() }),
        chat({ limits: { steps: 3 } }),
        chat({ introduce: false }),
        chat({ participants: [clerk, humanParticipant({ name: 'boss', reply: () => 'Yes.' }), echo] }),
      ];
      expect(new Set(different.map(({ fingerprint }) => fingerprint)).size).toBe(different.length);
    });

    test('without the person who is waited for: the words are not lost silently, and the conversation goes on', async () => {
      const { wait, start, chat, clerk, echo } = await parkedByOne();
      const runtime = start({ agents: [chat({ version: '2', participants: [clerk, echo] })] });
      expect((await runtime.get('one')).waitingFor.map(({ id }) => id)).toStrictEqual(['boss/2']);
      // The words were given, and are said under that name.
      const turn = await runtime.answer('one', wait, { by: bob, value: 'Fine.' });
      expect(turn.status).toBe('completed');
      const { state } = await runtime.get('one');
      expect(turnsIn(state).steps[1]).toMatchObject({ participant: 'boss', errors: [] });
      expect(turnsIn(state).steps[1]?.memo).toBeUndefined();
      expect(await linesIn(runtime)).toStrictEqual(['input: say Hello', 'clerk: Hello', 'boss: Fine.', 'echo: echo of Fine.']);
      const next = await runtime.send('one', 'say On', { by: ann });
      expect([next.status, next.execution]).toStrictEqual(['completed', 2]);
      expect((await linesIn(runtime)).slice(4)).toStrictEqual(['input: say On', 'clerk: On', 'echo: echo of On']);
    });

    test('with one more: it has its say as well', async () => {
      const { wait, start, chat, clerk, boss, echo } = await parkedByOne();
      const late = scriptedParticipant({ name: 'late', says: ['Me too.'] });
      const runtime = start({ agents: [chat({ version: '2', participants: [clerk, late, boss, echo] })] });
      expect((await runtime.answer('one', wait, { by: bob, value: 'Fine.' })).status).toBe('completed');
      const lines = await linesIn(runtime);
      expect(lines.slice(0, 4)).toStrictEqual(['input: say Hello', 'clerk: Hello', 'boss: Fine.', 'echo: echo of Fine.']);
      expect(lines).toContain('late: Me too.');
    });

    test('without the person who is waited for: a message closes the wait', async () => {
      const { start, chat, clerk, echo } = await parkedByOne();
      const runtime = start({ agents: [chat({ version: '2', participants: [clerk, echo] })] });
      expect(await runtime.send('one', 'say On', { by: ann })).toMatchObject({ status: 'completed', execution: 2 });
    });

    test('without the model whose call waits for an approval: nothing runs, and the session can be spoken to', async () => {
      const { wait, start, chat, echo, ran } = await parkedByOne('pay 5; say Paid.');
      const runtime = start({ agents: [chat({ version: '2', participants: [echo] })] });
      const { message } = await refusal(runtime.approve('one', wait, { by: bob }), 'agent-changed');
      expect(message).toContain('no participant named "clerk"');
      const turn = await runtime.reject('one', wait, { by: bob });
      expect([turn.status, ran]).toStrictEqual(['failed', []]);
      expect(await runtime.send('one', 'On', { by: ann })).toMatchObject({ status: 'completed', text: 'echo of On' });
    });

    test('without the tool whose call waits for an approval: it can be rejected, and the turn goes on', async () => {
      const { wait, start, chat, boss, echo, ran, model } = await parkedByOne('pay 5; say Sorry.');
      const bare = llmParticipant({ name: 'clerk', model });
      const runtime = start({ agents: [chat({ version: '2', participants: [bare, boss, echo] })] });
      await refusal(runtime.approve('one', wait, { by: bob }), 'agent-changed');
      const turn = await runtime.reject('one', wait, { by: bob });
      expect([ran, turn.status]).toStrictEqual([[], 'waiting']);
      expect(await linesIn(runtime)).toStrictEqual(['input: pay 5; say Sorry.', 'clerk: Sorry.']);
    });

    test('in which the person is asked by a callback takes the words that were given', async () => {
      const { wait, start, chat, clerk, echo } = await parkedByOne();
      const asked: string[] = [];
      const boss = humanParticipant({ name: 'boss', reply: () => (asked.push('?'), 'From the callback.') });
      const runtime = start({ agents: [chat({ version: '2', participants: [clerk, boss, echo] })] });
      await runtime.answer('one', wait, { by: bob, value: 'Fine.' });
      expect([await linesIn(runtime), asked]).toStrictEqual([
        ['input: say Hello', 'clerk: Hello', 'boss: Fine.', 'echo: echo of Fine.'],
        [],
      ]);
    });

    test('finds a turn that was interrupted, and takes it up where the rule lets it', async () => {
      const stage = newStage();
      const thinker = functionParticipant({
        name: 'thinker',
        speak: async () => {
          const { current } = stage.gate;
          current.reach();
          await current.passed;
          return 'I think.';
        },
      });
      const release = (version: string): Chat => stage.chat({ version, participants: [stage.clerk, thinker] });
      const [one, two] = [release('1'), release('2')];
      const before = stage.start({ agents: [one] });
      await before.create({ id: 'one' }, { by: ann });
      await before.send('one', 'note 1; say Done.', { by: ann, until: 'accepted' });
      await stage.gate.current.reached;
      stage.gate.current = createGate();
      stage.gate.current.open();
      const refused = stage.start({ agents: [two], onVersionChange: 'refuse' });
      expect((await refused.ready).failed).toMatchObject([{ sessionId: 'one', error: { code: 'agent-changed' } }]);
      const runtime = stage.start({ agents: [two] });
      expect((await runtime.ready).resumed).toStrictEqual(['one']);
      await until(async () => expect((await runtime.get('one')).status).toBe('completed'));
      expect([await linesIn(runtime), stage.ran]).toStrictEqual([
        ['input: note 1; say Done.', 'clerk: Done.', 'thinker: I think.'],
        ['note 1'],
      ]);
      const { execution } = (await runtime.get('one')).state;
      expect([execution.agent, execution.resumedBy]).toStrictEqual([identity(one), [identity(two)]]);
    });
  });

  describe('beside an agent in one runtime', () => {
    const desks = () => {
      const stage = newStage();
      const agent = createAgent({
        id: 'desk',
        model: stage.model,
        tools: { note: stage.tools.note },
        ports: { clock: stage.clock, ids: stage.ids },
      });
      return { ...stage, agent, room: stage.chat() };
    };

    test('each carries its own sessions on, also after a restart', async () => {
      const { agent, room, place, clock, ids } = desks();
      const options = () => ({ agents: [agent, room], store: place.open(), clock, ids });
      const before = createSessionRuntime(options());
      await refusal(before.create({ id: 'which' }, { by: ann }), 'invalid-argument');
      await before.create({ id: 'a', agent: 'desk' }, { by: ann });
      await before.create({ id: 'c', agent: 'room' }, { by: ann });
      expect((await before.send('a', 'note 1; say From the desk.', { by: ann })).text).toBe('From the desk.');
      expect((await before.send('c', 'say From the room.', { by: ann })).status).toBe('waiting');
      await before.drain();
      const runtime = createSessionRuntime(options());
      expect((await runtime.send('a', 'say Again.', { by: ann })).text).toBe('Again.');
      expect((await runtime.answer('c', { id: 'boss/2' }, { by: bob, value: 'Fine.' })).text).toBe('echo of Fine.');
      expect((await runtime.list()).sessions.map(({ id, ...more }) => [id, 'agent' in more && more.agent.id]).sort()).toStrictEqual([
        ['a', 'desk'],
        ['c', 'room'],
      ]);
    });

    test('the compiler knows both states, both kinds of events and what both need', async () => {
      const { agent, room, place, clock, ids } = desks();
      const chosen: string[] = [];
      const runtime = createSessionRuntime({
        ...newProcess,
        agents: [agent, room],
        store: place.open(),
        clock,
        ids,
        onEvent: (event) => {
          expectTypeOf(event).toExtend<BaseEvent>();
          if (event.type === 'ParticipantSelected') chosen.push(`${event.participant} by ${event.selectedBy}`);
        },
      });
      await runtime.create({ id: 'c', agent: 'room' }, { by: ann });
      await runtime.send('c', 'say Hello', { by: ann });
      const { state } = await runtime.get('c');
      expectTypeOf(state).toEqualTypeOf<AgentState | ChatState>();
      expect([state instanceof ChatState, state instanceof AgentState, chosen]).toStrictEqual([
        true,
        false,
        ['clerk by round-robin', 'boss by round-robin'],
      ]);
      const alone = createSessionRuntime({ ...newProcess, agents: [room], store: place.open(), clock, ids });
      expectTypeOf((await alone.get('c')).state).toEqualTypeOf<ChatState>();
      const { speaker, participant } = (await alone.get('c')).state;
      expect([speaker, participant]).toStrictEqual(['clerk', 'boss']);
    });

    test('what participants need of the host is asked of the runtime', async () => {
      const { agent, place, clock, ids, echo } = desks();
      const needy = functionParticipant({
        name: 'needy',
        context: defineContext<{ readonly db: string }>(),
        speak: ({ context }) => `from ${context.db}`,
      });
      const needyRoom = createChat({ id: 'needy', participants: [needy, echo], ports: { clock, ids } });
      // @ts-expect-error: a participant needs a context, and nobody says how to get it.
      createSessionRuntime({ ...newProcess, agents: [needyRoom], store: createMemoryStore() });
      // @ts-expect-error: that is another context.
      createSessionRuntime({ ...newProcess, agents: [agent, needyRoom], store: createMemoryStore(), context: () => ({ nothing: 1 }) });
      const runtime = createSessionRuntime({
        ...newProcess,
        agents: [agent, needyRoom],
        store: place.open(),
        clock,
        ids,
        context: ({ tenant = 'none' }) => ({ db: tenant }),
      });
      await runtime.create({ id: 'c', agent: 'needy', tenant: 'north' }, { by: ann });
      expect(await runtime.send('c', 'Hello', { by: ann })).toMatchObject({ status: 'completed', text: 'echo of from north' });
      // Without a compiler: told in words.
      const untyped: SessionRuntimeOptions = { agents: [needyRoom], store: place.open(), clock, ids, onProblem: () => undefined };
      const without = createSessionRuntime(untyped);
      await refusal(without.send('c', 'Hello again', { by: ann }), 'invalid-argument');
    });

    test('a session whose id stands for another kind now is refused, and stays readable by its own', async () => {
      const { place, clock, ids, model, agent, room } = desks();
      const before = createSessionRuntime({ ...newProcess, agents: [room], store: place.open(), clock, ids });
      await before.create({ id: 'c' }, { by: ann });
      await before.send('c', 'say Hello', { by: ann });
      await before.drain();
      const wrong = createSessionRuntime({
        ...newProcess,
        agents: [createAgent({ id: 'room', model })],
        store: place.open(),
        clock,
        ids,
        onProblem: () => undefined,
      });
      const [settled] = await Promise.allSettled([wrong.send('c', 'say On', { by: ann })]);
      expect(settled.status).toBe('rejected');
      const back = createSessionRuntime({ ...newProcess, agents: [agent, room], store: place.open(), clock, ids });
      expect((await back.answer('c', { id: 'boss/2' }, { by: bob, value: 'Fine.' })).status).toBe('completed');
    });
  });
});
