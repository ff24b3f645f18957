// A turn waits, and those who take part are others when it goes on: a newer release, or a changed configuration.
import { describe, expect, test } from 'vitest';
import { createAgent } from '../agent/index.ts';
import { ErrorPolicy } from '../errors/index.ts';
import { createCountingIds, createFakeClock } from '../lib/index.ts';
import { scriptedModel } from '../testing/index.ts';
import { defineTool } from '../tools/index.ts';
import type { Participant } from './index.ts';
import {
  agentParticipant,
  ChatState,
  createChat,
  functionParticipant,
  humanParticipant,
  llmParticipant,
  scriptedParticipant,
} from './index.ts';

const [clock, ids] = [createFakeClock(), createCountingIds()];
const ports = { clock, ids };
const roundTrip = (state: ChatState): ChatState => ChatState.fromJSON(JSON.parse(JSON.stringify(state)));
const order = (state: ChatState) => state.steps.map(({ participant }) => participant);
const says = (name: string, ...words: readonly string[]): Participant => scriptedParticipant({ name, says: words });
const begin = (): ChatState => ChatState.empty({ clock, ids }).withUserMessage('Go.', { ids });
const setUpChat = (...participants: readonly Participant[]) => createChat({ participants, ports });

const paid: string[] = [];
const pay = defineTool({
  name: 'pay',
  description: 'A tool.',
  input: { type: 'object' },
  needsApproval: true,
  run: () => {
    paid.push('paid');
    return 'paid';
  },
});
const payer = () => scriptedModel([{ toolCalls: [{ name: 'pay', id: 'p1' }] }, { text: 'Paid.' }]);
const talker = () => scriptedModel([{ text: 'Here I am.' }], { repeatLast: true });
const others: Readonly<Record<string, () => Participant>> = {
  'a model': () => llmParticipant({ name: 'z', model: talker(), tools: [pay] }),
  'an agent': () => agentParticipant({ name: 'z', agent: createAgent({ model: talker(), ports }) }),
  'a person': () => humanParticipant({ name: 'z' }),
  'a script': () => says('z', 'By rote.'),
  'a function': () => functionParticipant({ name: 'z', speak: () => 'f' }),
};
const otherThan = (kind: string) => Object.entries(others).flatMap(([what, make]) => (what === kind ? [] : [{ what, make }]));

describe('a person whose words were waited for', () => {
  const park = async () => roundTrip(await setUpChat(says('a', 'x'), humanParticipant({ name: 'z' }), says('c', 'y')).run(begin()));

  test.each(otherThan('a person'))('is heard, where $what has the name now', async ({ make }) => {
    const end = await setUpChat(says('a', 'x'), make(), says('c', 'y')).run((await park()).answer('z/2', 'My words.'));
    expect([end.status, order(end), end.errors]).toStrictEqual(['completed', ['a', 'z', 'c'], []]);
    expect(end.transcript[2]).toStrictEqual({ speaker: 'z', text: 'My words.' });
    expect([end.messages.toArray()[2]?.role, end.steps[1]?.memo]).toStrictEqual(['user', undefined]);
  });

  test('is heard, where nobody has the name any more', async () => {
    const end = await setUpChat(says('a', 'x'), says('c', 'y')).run((await park()).answer('z/2', 'My words.'));
    // The round goes on behind the last of those who are still there.
    expect([end.status, order(end), end.transcript[2]?.text]).toStrictEqual(['completed', ['a', 'z', 'c'], 'My words.']);
  });

  test('who gave what cannot be used has a failed turn there, and nothing is lost', async () => {
    const end = await setUpChat(says('a', 'x'), says('c', 'y')).run((await park()).answer('z/2', 4));
    expect([end.status, end.participant, end.transcript.length, end.errors.length]).toStrictEqual(['failed', 'z', 2, 1]);
  });
});

describe.each([
  { was: 'a model', first: () => llmParticipant({ name: 'z', model: payer(), tools: [pay] }) },
  { was: 'an agent', first: () => agentParticipant({ name: 'z', agent: createAgent({ model: payer(), tools: [pay], ports }) }) },
])('a turn of $was that waited for an approval', ({ was, first }) => {
  const park = async () => roundTrip(await setUpChat(first(), says('c', 'y')).run(begin()));

  test.each(otherThan(was))('fails in words where $what has the name now', async ({ what, make }) => {
    paid.length = 0;
    const chat = setUpChat(make(), says('c', 'y'));
    const end = await chat.run((await park()).approve('z/p1'));
    expect([end.status, end.participant, paid, end.transcript]).toStrictEqual(['failed', 'z', [], [{ text: 'Go.' }]]);
    expect(end.errors).toMatchObject([{ code: 'participant-changed', retryable: false }]);
    for (const part of ['z', was, what]) expect(end.errors[0]?.message).toContain(part);
    expect([end.currentStep?.memo, roundTrip(end).errors]).toStrictEqual([undefined, end.errors]);
  });

  test('fails where nobody has the name; the next input is answered by those who are there', async () => {
    const chat = setUpChat(says('c', 'y'));
    const failed = await chat.run((await park()).approve('z/p1'));
    expect([failed.errors[0]?.code, failed.errors[0]?.message]).toStrictEqual(['participant-changed', expect.stringContaining('no such')]);
    const end = await chat.run(roundTrip(failed).withUserMessage('Who is here?', { ids }));
    expect([end.status, order(end)]).toStrictEqual(['completed', ['c']]);
  });

  test('is not tried again: the same would come of it', async () => {
    const chat = createChat({ participants: [says('z', 'x')], errors: ErrorPolicy.retryAll(3), ports });
    const end = await chat.run((await park()).approve('z/p1'));
    expect([end.status, end.stepCount]).toStrictEqual(['failed', 1]);
  });

  test('is given up for a message, also where nobody has the name any more', async () => {
    const end = await setUpChat(says('c', 'y')).run(roundTrip((await park()).withUserMessage('Never mind.', { ids })));
    expect([end.status, order(end)]).toStrictEqual(['completed', ['c']]);
  });

  test('goes on with a newer one of its kind', async () => {
    paid.length = 0;
    const newer = scriptedModel([{ text: 'Paid, as you wished.' }]);
    const next =
      was === 'a model'
        ? llmParticipant({ name: 'z', model: newer, tools: [pay], instructions: 'Newer.' })
        : agentParticipant({ name: 'z', agent: createAgent({ model: newer, tools: [pay], ports }) });
    const end = await setUpChat(says('c', 'y'), next).run((await park()).approve('z/p1'));
    expect([end.status, order(end), paid.length, end.transcript[1]?.text]).toStrictEqual([
      'completed',
      ['z', 'c'],
      1,
      'Paid, as you wished.',
    ]);
  });
});
