import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { JsonText } from './leak-guard.ts';

function read(...pieces: readonly string[]): JsonText {
  const json = new JsonText();
  for (const piece of pieces) json.take(piece);
  return json;
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
    expect([read(text).isPossible, read(text).isOnlyJson]).toStrictEqual([true, true]);
  });

  test.each(prose)('is not %s', (_, text) => {
    expect(read(text).isOnlyJson).toBe(false);
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
        expect(read(text).isOnlyJson).toBe(true);
        expect(read(text.slice(0, cut)).isPossible).toBe(true);
      }),
    );
  });

  test('is not any of that with words before or after it', () => {
    fc.assert(
      fc.property(joined, fc.constantFrom('Now ', 'x', '1', '"', '- ', '#'), (text, words) => {
        expect(read(`${words}${text}`).isOnlyJson).toBe(false);
        expect(read(`${text}\n${words}`).isOnlyJson).toBe(false);
      }),
    );
  });

  const pieces = fc.oneof(joined, ...[...onlyJson, ...prose].map(([, text]) => fc.constant(text.slice(0, 200))));

  test('is the same text in whatever pieces it comes', () => {
    fc.assert(
      fc.property(pieces, fc.array(fc.nat({ max: 200 }), { maxLength: 8 }), (text, places) => {
        const cuts = [0, ...places.sort((left, right) => left - right), text.length];
        const split = cuts.slice(1).map((end, index) => text.slice(cuts[index], end));
        expect(read(...split).isOnlyJson).toBe(read(text).isOnlyJson);
        expect(read(...text).isOnlyJson).toBe(read(text).isOnlyJson);
      }),
    );
  });
});
