import fc from 'fast-check';
import { describe, expect, it, test } from 'vitest';
import type { ModelDelta } from './model.ts';
import { createResponseBuilder } from './response-builder.ts';

const json = '{"name":"search","arguments":{"q":"Paris <b>"}}';
const fence = '```';

const blocks: readonly (readonly [string, string])[] = [
  ['Hermes and Qwen', `<tool_call>\n${json}\n</tool_call>`],
  ['several calls in one block', `<tool_calls>[${json},${json}]</tool_calls>`],
  ['a fenced call in a block', `<tool_call>${fence}json\n${json}\n${fence}</tool_call>`],
  ['function_call', `<function_call>${json}</function_call>`],
  ['tool_use with attributes', `<tool_use id="1">${json}</tool_use>`],
  ['Llama', '<function=search>{"q":1}</function>'],
  ['Qwen Coder', '<tool_call>\n<function=search>\n<parameter=q>\nParis\n</parameter>\n</function>\n</tool_call>'],
  ['GLM', '<tool_call>search\n<arg_key>q</arg_key>\n<arg_value>Paris</arg_value>\n</tool_call>'],
  ['Claude', '<function_calls>\n<invoke name="search">\n<parameter name="q">Paris</parameter>\n</invoke>\n</function_calls>'],
  ['an invocation alone', '<invoke name="search"><parameter name="q">Paris</parameter></invoke>'],
  ['Gemini', '<tool_code>search(q="Paris")</tool_code>'],
  ['FunctionGemma', '<start_function_call>call:search{q:Paris}<end_function_call>'],
  ['Mistral', '[TOOL_CALLS][{"name":"search","arguments":{"q":1}}]'],
  ['newer Mistral', '[TOOL_CALLS]search[ARGS]{"q":1}'],
  ['Phi', `<|tool_call|>[${json}]<|/tool_call|>`],
  ['a token that nothing closes', `<|python_tag|>${json}`],
  ['LFM', `<|tool_call_start|>[search(q="Paris")]<|tool_call_end|>`],
  [
    'Kimi',
    '<|tool_calls_section_begin|><|tool_call_begin|>functions.search:0<|tool_call_argument_begin|>{"q":1}<|tool_call_end|><|tool_calls_section_end|>',
  ],
  ['DeepSeek', '<｜tool▁calls▁begin｜><｜tool▁call▁begin｜>function<｜tool▁sep｜>search<｜tool▁call▁end｜><｜tool▁calls▁end｜>'],
  ['MiniMax', '<minimax:tool_call><invoke name="search"></invoke></minimax:tool_call>'],
  ['DeepSeek with other bars', '<|tool▁calls▁begin|><|tool▁call▁begin|>search<|tool▁sep|>{"q":1}<|tool▁call▁end|><|tool▁calls▁end|>'],
  [
    'DeepSeek, DSML',
    '<｜DSML｜function_calls>\n<｜DSML｜invoke name="search">\n<｜DSML｜parameter name="q" string="true">Paris</｜DSML｜parameter>\n</｜DSML｜invoke>\n</｜DSML｜function_calls>',
  ],
  ['DeepSeek, newer DSML', '<｜DSML｜tool_calls><｜DSML｜invoke name="search"></｜DSML｜invoke></｜DSML｜tool_calls>'],
  ['DSML with other bars', '<|DSML|tool_calls><|DSML|invoke name="search"></|DSML|invoke></|DSML|tool_calls>'],
  ['Nemotron', `<TOOLCALL>[${json}]</TOOLCALL>`],
  ['upper case', `<TOOL_CALL>${json}</TOOL_CALL>`],
  ['upper case in brackets', `[TOOL_CALL]${json}[/TOOL_CALL]`],
  ['upper case in brackets that nothing closes', `[TOOLCALL][${json}]`],
  ['gpt-oss', `<|channel|>commentary to=functions.search <|constrain|>json<|message|>${json}<|call|>`],
  ['gpt-oss with its beginning', `<|start|>assistant<|channel|>commentary to=functions.search<|message|>${json}<|call|>`],
  ['gpt-oss that names the tool first', `<|start|>assistant to=functions.search<|channel|>commentary json<|message|>${json}`],
  ['Cohere', `<|START_ACTION|>[${json}]<|END_ACTION|>`],
  ['LongCat', `<longcat_tool_call>search\n<longcat_arg_key>q</longcat_arg_key>\n</longcat_tool_call>`],
  ['InternLM', `<|action_start|><|plugin|>${json}<|action_end|>`],
  ['a fence', `${fence}tool_call\n${json}\n${fence}`],
  [
    'a fence with code in a fence of its own',
    `${fence}tool_call\n{"name":"write","arguments":{"text":"${fence}js\\n1\\n${fence}"}}\n${fence}`,
  ],
  ['Python of InternLM', '<|action_start|><|interpreter|>print(1)<|action_end|>'],
  ['an end without a beginning', `${json}\n</tool_call>`],
];

const shown: readonly (readonly [string, string])[] = [
  ['markup that is never closed, behind words', `I use <tool_call> {"q":1}`],
  ['tokens that words speak of', 'a call between <|START_ACTION|>, then JSON, and <|END_ACTION|> behind it'],
  ['words in markup', '<tool_call>Please read this first.</tool_call>'],
  ['markup shown in a line of code', 'Write `<tool_call>{"q":1}</tool_call>` to call it.'],
  ['markup shown in a fence, behind words', `Like this:\n${fence}xml\n<tool_call>{"q":1}</tool_call>\n${fence}`],
  ['other fences', `Like this:\n${fence}tool_caller\n{"q":1}\n${fence}\n${fence}json\n{"q":1}\n${fence}`],
  ['words in a fence', `Like this:\n${fence}tool_call\nPlease read this first.\n${fence}`],
  ['a fence shown in a fence', `Like this:\n${fence}\`md\n${fence}tool_call\n{"q":1}\n${fence}\n${fence}\``],
  ...[
    '<TOOLCALL>[{"q":1}]</TOOLCALL>',
    '[TOOL_CALL]{"q":1}[/TOOL_CALL]',
    '<|channel|>commentary to=functions.x<|message|>{"q":1}<|call|>',
    '<｜tool▁calls▁begin｜>{"q":1}<｜tool▁calls▁end｜>',
    '<｜DSML｜tool_calls>{"q":1}</｜DSML｜tool_calls>',
    '<|START_ACTION|>[{"q":1}]<|END_ACTION|>',
    '<longcat_tool_call>{"q":1}</longcat_tool_call>',
    '<|action_start|>{"q":1}<|action_end|>',
  ].map((block) => [`${block}, shown in a line of code`, `A call is \`${block}\` there.`] as const),
  ['the words for readers of gpt-oss', '<|channel|>final<|message|>{"q":1}'],
  ['a fence that is named in a line of code', `Write \` ${fence}tool_call \` and then JSON.`],
  ['other elements', '<b>{"q":1}</b> <tool_caller>{"q":1}</tool_caller>'],
  ['a comparison', 'a < b and [TODO] is <t'],
  ['a list of links', '[the tools](https://x.test) [TOOLS]'],
];

interface Answer {
  readonly text: string;
  readonly emitted: string;
}

/** Answers with text in pieces; with a call of ours beside it, or not. */
function answer(pieces: readonly string[], hasCall: boolean, ids: readonly string[] = []): Answer {
  const deltas: ModelDelta[] = [];
  const builder = createResponseBuilder({
    request: { tools: [{ name: 'search', description: '', inputSchema: {} }] },
    onDelta: (delta) => deltas.push(delta),
  });
  pieces.forEach((piece, index) => builder.text(piece, ids[index % ids.length]));
  if (hasCall) builder.toolCall({ id: 'a', name: 'search', input: '{"q":1}' });
  builder.finish(hasCall ? 'tool-calls' : 'stop');
  const outcome = builder.outcome();
  const { parts } = outcome.ok ? outcome.response : outcome.partial;
  return {
    text: parts.flatMap((part) => (part.type === 'text' ? [part.text] : [])).join(''),
    emitted: deltas.flatMap((delta) => (delta.type === 'text' ? [delta.text] : [])).join(''),
  };
}

const cutAt = (text: string, places: readonly number[]): readonly string[] => {
  const cuts = [0, ...places.filter((place) => place < text.length).toSorted((left, right) => left - right), text.length];
  return cuts.slice(1).map((end, index) => text.slice(cuts[index], end));
};

/** The same answer for a text as a whole, cut in two anywhere, and in single characters. */
function answerInPieces(text: string, hasCall: boolean): Answer {
  const whole = answer([text], hasCall);
  for (let cut = 1; cut < text.length; cut += 1) expect(answer([text.slice(0, cut), text.slice(cut)], hasCall)).toStrictEqual(whole);
  expect(answer(Array.from(text), hasCall)).toStrictEqual(whole);
  expect(whole.emitted).toBe(whole.text);
  return whole;
}

describe('the markup of a call beside the call', () => {
  it.each(blocks)('is dropped if it is all that was written: %s', (_, block) => {
    expect(answerInPieces(`\n${block}\n`, true).text).toBe('');
  });

  it.each(blocks.filter(([, block]) => !block.startsWith('{')))('is cut out of prose, which stays: %s', (_, block) => {
    expect(answerInPieces(`Let me look.\n${block} One moment.`, true).text).toMatch(/^Let me look\.\n ?One moment\.$/);
  });

  it('is dropped in a fence, beside JSON, and several times', () => {
    const block = `<tool_call>${json}</tool_call>`;
    for (const text of [`${fence}xml\n${block}\n${fence}`, `${json}\n${block}`, `${block}\n${block}`, `${block}${json}`])
      expect(answerInPieces(text, true).text).toBe('');
  });

  it('is dropped if the answer ends in it, and nothing else was said', () => {
    for (let end = 1; end < json.length; end += 1) expect(answer([`<tool_call>${json.slice(0, end)}`], true).text).toBe('');
    expect(answerInPieces('<tool_ca', true).text).toBe('');
  });

  it.each(shown)('is not %s', (_, text) => {
    expect(answerInPieces(text, true).text).toBe(text);
  });
});

describe('the markup of a call without a call', () => {
  it.each([...blocks, ...shown])('is the answer, and is emitted whole: %s', (_, block) => {
    const text = `It reads ${block}. That is all.`;
    expect(answerInPieces(text, false).text).toBe(text);
    expect(answerInPieces(block, false).text).toBe(block);
  });

  it('does not hold up what comes before it', () => {
    const deltas: string[] = [];
    const builder = createResponseBuilder({
      request: { tools: [{ name: 'search', description: '', inputSchema: {} }] },
      onDelta: (delta) => delta.type === 'text' && deltas.push(delta.text),
    });
    for (const piece of ['Let me look', '. <to', 'tal> is <tool', '_call>{}']) builder.text(piece);
    expect(deltas).toStrictEqual(['Let me look', '. ', '<total> is ']);
  });
});

test('a back-tick at the end of a part does not hold up the next one', () => {
  const deltas: string[] = [];
  const builder = createResponseBuilder({
    request: { tools: [{ name: 'search', description: '', inputSchema: {} }] },
    onDelta: (delta) => delta.type === 'text' && deltas.push(delta.text),
  });
  builder.text('I look at `a.ts`', 'one');
  for (const piece of ['It says ', 'hello.']) builder.text(piece, 'two');
  expect(deltas.join('')).toBe('I look at `a.ts`It says hello.');
});

describe('whatever the text, and in whatever pieces it comes', () => {
  const prose = fc.constantFrom(
    'Let me see. ',
    'a < b ',
    '[1] ',
    '\n',
    'x',
    '<',
    '[',
    '`',
    `${fence}\n`,
    '<tool_',
    '</tool_call>',
    '{"q":1}',
  );
  const piece = fc.oneof(prose, fc.constantFrom(...[...blocks, ...shown].map(([, text]) => text)), fc.string());
  const text = fc.array(piece, { maxLength: 6 }).map((pieces) => pieces.join(''));
  const cuts = fc.array(fc.nat({ max: 400 }), { maxLength: 12 });

  test('the answer is the same, and what was emitted is its text', () => {
    fc.assert(
      fc.property(text, cuts, fc.boolean(), (said, places, hasCall) => {
        const whole = answer([said], hasCall);
        expect(answer(cutAt(said, places), hasCall)).toStrictEqual(whole);
        expect(whole.emitted).toBe(whole.text);
      }),
      { numRuns: 500 },
    );
  });

  test('nothing is lost without a call, nor any words outside of markup with one', () => {
    fc.assert(
      fc.property(fc.array(fc.constantFrom(...blocks.slice(0, 12).map(([, block]) => block)), { maxLength: 4 }), cuts, (leaks, places) => {
        const said = leaks.reduce((all, leak, index) => `${all}${leak}words ${index}. `, 'First. ');
        const words = leaks.reduce((all, _, index) => `${all}words ${index}. `, 'First. ');
        expect(answer(cutAt(said, places), true).text).toBe(words);
        expect(answer(cutAt(said, places), false).text).toBe(said);
      }),
    );
  });

  test('parts that mix lose nothing', () => {
    fc.assert(
      fc.property(text, cuts, (said, places) => {
        const mixed = answer(cutAt(said, places), false, ['one', 'two']);
        expect(Array.from(mixed.emitted).toSorted().join('')).toBe(Array.from(mixed.text).toSorted().join(''));
        expect(mixed.text).toHaveLength(said.length);
      }),
    );
  });

  test('a hundred thousand small pieces are read in linear time', () => {
    expect(answer(Array<string>(100_000).fill('word '), true).text).toHaveLength(500_000);
    expect(answer(['<tool_call>["', ...Array<string>(100_000).fill('word ')], true).text).toBe('');
  });
});
