// The keywords that docs/tools.md lists are those that the validator knows.
import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import type { Json } from '../src/lib/index.ts';
import { defineTool } from '../src/tools/index.ts';

const page = readFileSync(new URL('../docs/tools.md', import.meta.url), 'utf8');

function listKeywords(heading: string): readonly string[] {
  const section = page.split(/^### /m).find((each) => each.startsWith(heading)) ?? '';
  const names = [...section.matchAll(/`([$a-zA-Z]+)`/g)].map(([, name = '']) => name);
  return [...new Set(names)].filter((name) => name !== 'true' && name !== 'false');
}

const values: Readonly<Record<string, Json>> = {
  type: 'object',
  enum: [{}],
  required: [],
  properties: {},
  $defs: {},
  definitions: {},
  items: {},
  prefixItems: [{}],
  contains: {},
  additionalProperties: true,
  patternProperties: { '^x': {} },
  propertyNames: {},
  dependentRequired: { a: ['b'] },
  dependentSchemas: { a: {} },
  dependencies: { a: ['b'] },
  not: {},
  if: {},
  then: {},
  else: {},
  title: 'Title',
  description: 'Description',
  format: 'email',
  $comment: 'Comment',
  uniqueItems: true,
  pattern: '^a',
  anyOf: [{}],
  oneOf: [{}],
  allOf: [{}],
  $ref: '#/properties/other',
};

const define = (keyword: string): unknown =>
  defineTool({
    name: 'look',
    description: 'Looks.',
    input: { type: 'object', properties: { field: { [keyword]: values[keyword] ?? 1 }, other: {} } },
    run: () => 'seen',
  });

describe('the JSON Schema of docs/tools.md', () => {
  const [checked, described, refused] = ['Checked', 'Passed on', 'Refused'].map(listKeywords);

  it('lists keywords of each kind', () => {
    expect([checked!.length > 35, described!.length > 15, refused!.length > 5]).toEqual([true, true, true]);
  });

  it.each([...checked!, ...described!])('accepts %s', (keyword) => {
    expect(() => define(keyword)).not.toThrow();
  });

  it.each([...refused!])('refuses %s by name, and says what to use', (keyword) => {
    expect(() => define(keyword)).toThrow(`properties.field.${keyword} is not supported: `);
  });
});
