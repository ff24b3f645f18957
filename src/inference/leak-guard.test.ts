import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { TextHold } from './leak-guard.ts';

function hold(...pieces: readonly string[]): TextHold {
  const held = new TextHold();
  for (const piece of pieces) held.take(piece);
  return held;
}

const fence = '```';

const onlyJson: readonly (readonly [string, string])[] = [
  ['an object', '{"q":1}'],
  ['an object with space around it', '\n  { "q" : 1 }\n'],
  ['an array', '[{"q":1},{"q":2}]'],
  ['an empty object', '{}'],
  ['an empty array', '[ ]'],
  ['a call by name', '{"name":"search","arguments":{"q":1}}'],
  ['several objects', '{"q":1}{"q":2}\n[3]'],
  ['an object that is cut off', '{"q": "Par'],
  ['a second object that is cut off', '{"q":1}\n{"q"'],
  ['an array that is cut off', '['],
  ['a fenced object', `${fence}json\n{"q":1}\n${fence}`],
  ['a fenced object without a language', `${fence}\n{"q":1}\n${fence}\n`],
  ['a fenced object under another word', `${fence}tool_call\n{"q":1}\n${fence}`],
  ['a fenced object in one line', `${fence}{"q":1}${fence}`],
  ['a fence of four', `${fence}\`json\n{"q":1}\n${fence}\``],
  ['several objects in one fence', `${fence}json\n{"q":1}\n{"q":2}\n${fence}`],
  ['several fences', `${fence}json\n{"q":1}\n${fence}\n${fence}json\n[2]\n${fence}`],
  ['a fence after an object', `{"q":1}\n${fence}\n{"q":1}\n${fence}`],
  ['a fence that is cut off', `${fence}json\n{"q":`],
  ['a fence that is cut off before its JSON', `${fence}json`],
  ['a closing fence that is cut off', `${fence}json\n{"q":1}\n\``],
  ['JSON that is nested without end', '['.repeat(100_000) + ']'.repeat(100_000)],
];

const prose: readonly (readonly [string, string])[] = [
  ['nothing', ''],
  ['space', ' \n'],
  ['words', 'Let me see.'],
  ['a number', '42'],
  ['a string', '"yes"'],
  ['null', 'null'],
  ['words before an object', 'I call it with {"q":1}'],
  ['words after an object', '{"q":1} and now?'],
  ['words between objects', '{"q":1} then {"q":2}'],
  ['a number after an object', '{"q":1} 2'],
  ['a footnote', '[1] says so.'],
  ['a link', '[the docs](https://docs.test)'],
  ['a set in braces', '{a, b}'],
  ['a single quoted object', "{'q':1}"],
  ['an object that is not closed, and words', '{"q":1, and so on'],
  ['a list with a comma too many', '[1,]'],
  ['code in a fence', `${fence}ts\nconst x = {};\n${fence}`],
  ['words after a fence', `${fence}json\n{"q":1}\n${fence}\nThat is it.`],
  ['words after the language', `${fence}json of the call\n{"q":1}\n${fence}`],
  ['words in code marks', '`q` is 1'],
  ['one code mark', '`'],
  ['two code marks', '``'],
  ['an object in code marks', '`{"q":1}`'],
  ['too few marks after an object', '{"q":1} `q`'],
];

describe('text that consists only of JSON (C45, C46)', () => {
  test.each(onlyJson)('is %s', (_, text) => {
    expect([hold(text).isHolding, hold(text).isOnlyJson]).toStrictEqual([true, true]);
  });

  test.each(prose)('is not %s', (_, text) => {
    expect(hold(text).isOnlyJson).toBe(false);
  });

  const container = fc.oneof(fc.array(fc.jsonValue()), fc.dictionary(fc.string(), fc.jsonValue())).map((value) => JSON.stringify(value));
  const space = fc.constantFrom('', ' ', '\n', '\t\n ');
  const inFence = fc
    .tuple(fc.constantFrom('', 'json', 'JSON', 'tool-call'), container)
    .map(([word, json]) => `${fence}${word}\n${json}\n${fence}\n`);
  const joined = fc
    .array(fc.tuple(space, fc.oneof(container, inFence)), { minLength: 1, maxLength: 4 })
    .map((units) => units.map((unit) => unit.join('')).join(''));

  test('may be any objects and arrays, fenced or not, cut off anywhere', () => {
    fc.assert(
      fc.property(joined, fc.nat(), (text, cut) => {
        expect(hold(text).isOnlyJson).toBe(true);
        expect(hold(text.slice(0, cut)).isHolding).toBe(true);
      }),
    );
  });

  test('is not any of that with words before or after it', () => {
    fc.assert(
      fc.property(joined, fc.constantFrom('Now ', 'x', '1', '"', '- ', '#'), (text, words) => {
        expect(hold(`${words}${text}`).isOnlyJson).toBe(false);
        expect(hold(`${text}\n${words}`).isOnlyJson).toBe(false);
      }),
    );
  });

  const pieces = fc.oneof(joined, ...[...onlyJson, ...prose].map(([, text]) => fc.constant(text.slice(0, 200))));

  test('is the same text in whatever pieces it comes', () => {
    fc.assert(
      fc.property(pieces, fc.array(fc.nat({ max: 200 }), { maxLength: 8 }), (text, places) => {
        const cuts = [0, ...places.sort((left, right) => left - right), text.length];
        const split = cuts.slice(1).map((end, index) => text.slice(cuts[index], end));
        expect(hold(...split).isOnlyJson).toBe(hold(text).isOnlyJson);
        expect(hold(...text).isOnlyJson).toBe(hold(text).isOnlyJson);
      }),
    );
  });
});

describe('the text hold (C48)', () => {
  test('lets prose through at once', () => {
    const held = new TextHold();
    expect(held.take('Let me see. ')).toBe('Let me see. ');
    expect(held.take('{"q":1}')).toBe('{"q":1}');
    expect(held.isHolding).toBe(false);
  });

  test('holds JSON until it stops being JSON, then gives all of it', () => {
    const held = new TextHold();
    expect(['\n ', '{"q"', ':1}', ' '].map((piece) => held.take(piece))).toStrictEqual(['', '', '', '']);
    expect(held.isHolding).toBe(true);
    expect(held.take('is what I ask.')).toBe('\n {"q":1} is what I ask.');
    expect(held.take(' More.')).toBe(' More.');
  });

  test('lets code in a fence through at its first character that is not JSON', () => {
    const held = new TextHold();
    expect(['`', '``t', 's\n'].map((piece) => held.take(piece))).toStrictEqual(['', '', '']);
    expect(held.take('const')).toBe('```ts\nconst');
  });

  test('gives what it holds when asked, once', () => {
    const held = new TextHold();
    held.take('[1,');
    expect([held.release(), held.release(), held.isHolding]).toStrictEqual(['[1,', '', false]);
  });

  test('loses, doubles and reorders nothing, whatever comes', () => {
    fc.assert(
      fc.property(fc.array(fc.oneof(fc.string(), fc.json(), fc.constantFrom('{', '[', ' ', '"', '}', '`', fence))), (texts) => {
        const held = new TextHold();
        const shown = texts.map((piece) => held.take(piece)).join('');
        expect(shown + held.release()).toBe(texts.join(''));
      }),
    );
  });

  test('reads a hundred thousand small pieces in linear time', () => {
    const held = new TextHold();
    held.take('["');
    for (let index = 0; index < 100_000; index += 1) held.take('word ');
    expect(held.take('"]x')).toHaveLength(500_005);
  });

  test('reads a hundred thousand objects in linear time', () => {
    expect(hold('{}'.repeat(100_000)).isOnlyJson).toBe(true);
  });
});
