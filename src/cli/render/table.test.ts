import { describe, expect, it } from 'vitest';
import { createStyle } from './style.ts';
import type { Column } from './table.ts';
import { renderTable } from './table.ts';
import { getWidth } from './text.ts';

interface Row {
  readonly id: string;
  readonly name: string;
  readonly text: string;
}

const rows: readonly Row[] = [
  { id: '0f9e8d7c-6b5a-4938-2716-050403020100', name: 'a very long name of an agent', text: 'one two three four five six seven' },
  { id: 'short', name: 'b\n\u001b[31m', text: '' },
];

const columns: readonly Column<Row>[] = [
  { title: 'ID', value: ({ id }) => id },
  { title: 'NAME', value: ({ name }) => name, fit: 'cut' },
  { title: 'TEXT', value: ({ text }) => text, fit: 'wrap' },
  { title: 'EXTRA', value: () => 'an extra column', fit: 'drop' },
];

const plain = createStyle(false);
const render = (width: number | undefined): readonly string[] => renderTable(rows, columns, { width, style: plain }).split('\n');

describe('a table', () => {
  it('keeps ids whole, cuts names, breaks text and drops what is extra (Y1)', () => {
    expect(render(66)).toStrictEqual([
      'ID                                    NAME        TEXT',
      '0f9e8d7c-6b5a-4938-2716-050403020100  a very lo…  one two three',
      '                                                  four five six',
      '                                                  seven',
      String.raw`short                                 b\n\u001b…`,
    ]);
  });

  it.each([66, 72, 80, 100, 120, 160])('fits into %d columns', (width) => {
    for (const line of render(width)) expect(getWidth(line)).toBeLessThanOrEqual(width);
  });

  it('cuts and breaks nothing in a pipe (Y2)', () => {
    const lines = render(undefined);
    expect(lines).toHaveLength(3);
    expect(lines[1]).toContain('a very long name of an agent  one two three four five six seven  an extra column');
  });

  it('has no escape codes without colours, and the same text with them', () => {
    const coloured = renderTable(rows, columns, { width: 80, style: createStyle(true) });
    expect(coloured).toContain('\u001b[');
    // eslint-disable-next-line no-control-regex -- the codes of colours
    expect(coloured.replaceAll(/\u001b\[\d+m/g, '').split('\n')).toStrictEqual(render(80));
  });
});
