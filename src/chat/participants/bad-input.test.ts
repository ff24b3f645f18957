import { describe, expect, test } from 'vitest';
import { InvalidArgumentError } from '../../lib/index.ts';
import { ToolUseState } from '../../tool-use/index.ts';
import type { Participant } from '../index.ts';
import { ChatState, createChat, functionParticipant, humanParticipant, scriptedParticipant } from '../index.ts';

const says = (name: string, ...words: readonly string[]): Participant => scriptedParticipant({ name, says: words });

describe('createChat() refuses', () => {
  const a = says('a', 'x');
  const rows: readonly { what: string; options: unknown; says: RegExp }[] = [
    { what: 'nothing', options: undefined, says: /options/ },
    { what: 'no participants', options: {}, says: /participants/ },
    { what: 'an empty list', options: { participants: [] }, says: /participants/ },
    { what: 'one in place of a list', options: { participants: a }, says: /participants/ },
    { what: 'somebody who is none', options: { participants: [a, { name: 'b' }] }, says: /participants\[1\]/ },
    { what: 'nobody in the list', options: { participants: [undefined] }, says: /participants\[0\]/ },
    { what: 'two of one name', options: { participants: [a, says('a', 'y')] }, says: /"a"/ },
    { what: 'two whose names differ by case alone', options: { participants: [a, says('A', 'y')] }, says: /"A"/ },
    { what: 'a misspelt option', options: { participants: [a], limit: {} }, says: /"limit"/ },
    { what: 'a selector that is none', options: { participants: [a], selector: 'a' }, says: /selector/ },
    { what: 'to sum up at a limit', options: { participants: [a], limits: { onLimit: 'finalize' } }, says: /finalize/ },
    { what: 'a limit that is no number', options: { participants: [a], limits: { steps: 'many' } }, says: /steps|limit/i },
    { what: 'a limit of NaN', options: { participants: [a], limits: { tokens: Number.NaN } }, says: /tokens|limit/i },
    { what: 'limits of an unknown kind', options: { participants: [a], limits: { turns: 3 } }, says: /turns/ },
    { what: 'an error policy that is none', options: { participants: [a], errors: 'retry' }, says: /ErrorPolicy/ },
    { what: 'finish reasons that are no list', options: { participants: [a], finishReasons: 'length' }, says: /finishReasons/ },
    { what: 'a criterion in place of a list', options: { participants: [a], criteria: () => true }, says: /criteria/ },
    { what: 'something in the list that is no criterion', options: { participants: [a], criteria: [4] }, says: /criteri/i },
    { what: 'a price that is no function', options: { participants: [a], price: 4 }, says: /price/ },
    { what: 'an id that is empty', options: { participants: [a], id: '' }, says: /id/ },
    { what: 'a bus that is none', options: { participants: [a], events: {} }, says: /events/ },
  ];
  test.each(rows)('$what', ({ options, says: words }) => {
    expect(() => createChat(options as never)).toThrow(InvalidArgumentError);
    expect(() => createChat(options as never)).toThrow(words);
  });

  test('a run with what is no state, or with stored data that was not read', async () => {
    const chat = createChat({ participants: [a] });
    const start = ChatState.empty().withUserMessage('Go.');
    await expect(chat.run(JSON.parse(JSON.stringify(start)) as never)).rejects.toThrow(InvalidArgumentError);
    expect(() => chat.start(4 as never)).toThrow(InvalidArgumentError);
    expect(() => chat.start(ToolUseState.empty() as never)).toThrow(/a state of kind "chat-state"/);
  });
});

const refused: readonly { maker: (options: never) => unknown; what: string; options: unknown }[] = [
  ...[functionParticipant, humanParticipant, scriptedParticipant].flatMap((maker) => [
    { maker, what: 'nothing', options: undefined },
    { maker, what: 'no name', options: { says: ['x'], speak: () => '' } },
    { maker, what: 'a name that is no text', options: { name: 4 } },
    { maker, what: 'a name with @', options: { name: '@a' } },
    { maker, what: 'a strange option', options: { name: 'a', sais: ['x'] } },
  ]),
  { maker: functionParticipant, what: 'no function', options: { name: 'a' } },
  { maker: functionParticipant, what: 'no time', options: { name: 'a', speak: () => '', timeoutMs: 0 } },
  { maker: functionParticipant, what: 'a time that is NaN', options: { name: 'a', speak: () => '', timeoutMs: Number.NaN } },
  { maker: humanParticipant, what: 'a reply that is no function', options: { name: 'a', reply: 'x' } },
  { maker: humanParticipant, what: 'a prompt that is no text', options: { name: 'a', prompt: 4 } },
  { maker: humanParticipant, what: 'a time below 0', options: { name: 'a', reply: () => '', timeoutMs: -1 } },
  { maker: scriptedParticipant, what: 'no words', options: { name: 'a' } },
  { maker: scriptedParticipant, what: 'an empty list', options: { name: 'a', says: [] } },
  { maker: scriptedParticipant, what: 'one text in place of a list', options: { name: 'a', says: 'x' } },
  { maker: scriptedParticipant, what: 'a cycle', options: { name: 'a', says: [new Map()] } },
  { maker: scriptedParticipant, what: 'a number among its words', options: { name: 'a', says: ['x', 4] } },
];

test.each(refused)('$maker.name() with $what is refused', ({ maker, options }) => {
  expect(() => maker(options as never)).toThrow(InvalidArgumentError);
});
