import { describe, expect, test } from 'vitest';
import { defineClientTool, defineTool, toAnswerSchema, ToolSet } from '../../tools/index.ts';
import type { ReadDecision } from './decision.ts';
import { decisionSchema, readDecision } from './decision.ts';

const input = { type: 'object', properties: { q: { type: 'string' } } } as const;
const tools = ToolSet.from([
  defineTool({ name: 'search', description: 'Searches.', input, run: () => 'found' }),
  defineClientTool({ name: 'ask_user', description: 'Asks the user.', input }),
]);
const read = (decision: unknown): ReadDecision => readDecision(typeof decision === 'string' ? decision : JSON.stringify(decision), tools);
const calling = { thought: 'Look it up.', type: 'call_tool', tool: 'search', args: '{"q":"tea"}', answer: null };
const answering = { thought: 'I know.', type: 'final_answer', tool: null, args: null, answer: 'Tea.' };

describe('a decision to call a tool', () => {
  const decision = { type: 'call_tool', thought: 'Look it up.', tool: 'search', args: { q: 'tea' } };

  test.each<[string, unknown, object]>([
    ['its arguments are JSON written as text', calling, decision],
    ['its arguments are the object itself', { ...calling, args: { q: 'tea' } }, decision],
    ['its arguments are fenced', { ...calling, args: '```json\n{"q":"tea"}\n```' }, decision],
    ['its arguments are missing', { ...calling, args: undefined }, { ...decision, args: {} }],
    ['its arguments are null', { ...calling, args: null }, { ...decision, args: {} }],
    ['its arguments are an empty text', { ...calling, args: '' }, { ...decision, args: {} }],
    ['it has no thought', { ...calling, thought: undefined }, { ...decision, thought: '' }],
    ['its thought is no text', { ...calling, thought: 7 }, { ...decision, thought: '' }],
    ['somebody outside carries the tool out', { ...calling, tool: 'ask_user' }, { ...decision, tool: 'ask_user' }],
    ['it has fields that nobody asked for', { ...calling, mood: 'good' }, decision],
    ['it is fenced as a whole', `\`\`\`json\n${JSON.stringify(calling)}\n\`\`\``, decision],
    ['it stands among blanks', `\n  ${JSON.stringify(calling)}\n`, decision],
  ])('is read where %s', (_, given, expected) => {
    expect(read(given)).toStrictEqual({ ok: true, decision: expected });
  });

  const unknownTool = 'Unknown tool "serach". Use one of search, ask_user.';
  const noObject = '"args" of "search" must be a JSON object.';
  test.each<[string, unknown, string]>([
    ['no tool is named', { ...calling, tool: null }, '"tool" does not name the tool to call.'],
    ['the tool has an empty name', { ...calling, tool: '' }, '"tool" does not name the tool to call.'],
    ['the tool is no text', { ...calling, tool: { name: 'search' } }, '"tool" does not name the tool to call.'],
    ['there is no such tool', { ...calling, tool: 'serach' }, unknownTool],
    ['the tool is named like a method of every object', { ...calling, tool: 'toString' }, unknownTool.replace('serach', 'toString')],
    ['the arguments are a list', { ...calling, args: ['tea'] }, noObject],
    ['the arguments are a list written as text', { ...calling, args: '["tea"]' }, noObject],
    ['the arguments are no JSON', { ...calling, args: '{"q": tea}' }, noObject],
    ['the arguments are cut off', { ...calling, args: '{"q": "te' }, noObject],
    ['the arguments are a number', { ...calling, args: 7 }, noObject],
    ['the arguments are a word', { ...calling, args: 'tea' }, noObject],
    ['the arguments are null written as text', { ...calling, args: 'null' }, noObject],
  ])('is refused where %s', (_, given, problem) => {
    expect(read(given)).toStrictEqual({ ok: false, problem });
  });
});

describe('a decision to answer', () => {
  const decision = { type: 'final_answer', thought: 'I know.', answer: 'Tea.' };

  test.each<[string, unknown, object]>([
    ['in words', answering, decision],
    ['without a thought', { type: 'final_answer', answer: 'Tea.' }, { ...decision, thought: '' }],
    ['as an object, where JSON is wanted', { ...answering, answer: { drink: 'tea' } }, { ...decision, answer: '{"drink":"tea"}' }],
    ['and names a tool beside it', { ...answering, tool: 'search' }, decision],
  ])('is read %s', (_, given, expected) => {
    expect(read(given)).toStrictEqual({ ok: true, decision: expected });
  });

  test.each<[string, unknown]>([
    ['empty', ''],
    ['blank', ' \n'],
    ['null', null],
    ['missing', undefined],
  ])('is refused where the answer is %s', (_, answer) => {
    expect(read({ ...answering, answer })).toStrictEqual({ ok: false, problem: '"answer" is empty.' });
  });
});

describe('what is no decision', () => {
  const noObject = 'The decision is not a JSON object.';
  test.each<[string, string, string]>([
    ['prose', 'I would search for tea.', noObject],
    ['nothing', '', noObject],
    ['broken JSON', '{"type": "call_tool", "tool":', noObject],
    ['prose around JSON', `Here you are: ${JSON.stringify(calling)}`, noObject],
    ['a list', JSON.stringify([calling]), noObject],
    ['null', 'null', noObject],
    ['no type', '{"thought":"hm"}', '"type" must be "call_tool" or "final_answer", not missing.'],
    ['an unknown type', '{"type":"give_up"}', '"type" must be "call_tool" or "final_answer", not "give_up".'],
    ['a type that is no text', '{"type":7}', '"type" must be "call_tool" or "final_answer", not 7.'],
  ])('%s is refused', (_, text, problem) => {
    expect(readDecision(text, tools)).toStrictEqual({ ok: false, problem });
  });
});

describe('the schema that the model is given', () => {
  test.each([calling, answering])('fits the decision %o', async (decision) => {
    expect(await toAnswerSchema(decisionSchema).parse(decision)).toMatchObject({ ok: true });
  });

  test('leaves nothing open, as the strictest providers want it', () => {
    const { properties, required, additionalProperties } = decisionSchema as Record<string, unknown>;
    expect([Object.keys(properties as object), additionalProperties]).toStrictEqual([required, false]);
  });
});
