// Tables.
// Y1. A column that is kept is never cut: ids are there to be copied.
// Y2. In a pipe nothing is cut or broken.
import type { StyleName } from './style.ts';
import { cut, getWidth, pad, toLine, wrap } from './text.ts';
import type { Page } from './page.ts';

/** A column of a table. */
export interface Column<Row> {
  readonly title: string;
  readonly value: (row: Row) => string;
  readonly style?: (row: Row) => StyleName | undefined;
  readonly align?: 'left' | 'right';
  /** Handling if there is no room: as it is, cut, broken into lines, or left out as a whole. @default 'keep' */
  readonly fit?: 'keep' | 'cut' | 'wrap' | 'drop';
}

const gap = '  ';
const leastWidth = { cut: 8, wrap: 16 } as const;

interface Sized<Row> {
  readonly column: Column<Row>;
  readonly cells: readonly string[];
  width: number;
}

function measure<Row>(rows: readonly Row[], columns: readonly Column<Row>[]): Sized<Row>[] {
  return columns.map((column) => {
    const cells = rows.map((row) => toLine(column.value(row)));
    return { column, cells, width: Math.max(getWidth(column.title), ...cells.map(getWidth)) };
  });
}

const getTotal = (sized: readonly { readonly width: number }[]): number =>
  sized.reduce((sum, { width }) => sum + width, gap.length * (sized.length - 1));

const getLeast = <Row>({ column, width }: Sized<Row>): number =>
  column.fit === 'cut' || column.fit === 'wrap' ? Math.min(width, Math.max(leastWidth[column.fit], getWidth(column.title))) : width;

/** Makes the columns fit: drops those that may be dropped, from the right, then narrows the widest of the others. */
function fitInto<Row>(all: readonly Sized<Row>[], width: number): readonly Sized<Row>[] {
  let kept = all;
  while (getTotal(kept) > width) {
    const dropped = kept.findLast(({ column }) => column.fit === 'drop');
    if (dropped === undefined) break;
    kept = kept.filter((each) => each !== dropped);
  }
  for (let over = getTotal(kept) - width; over > 0; over -= 1) {
    const widest = kept.filter((each) => each.width > getLeast(each)).toSorted((one, other) => other.width - one.width)[0];
    if (widest === undefined) break;
    widest.width -= 1;
  }
  return kept;
}

function renderRow<Row>(
  sized: readonly Sized<Row>[],
  index: number,
  { style, row }: { readonly style: Page['style']; readonly row: Row },
): string {
  const cells = sized.map(({ column, cells, width }) => {
    const cell = cells[index] ?? '';
    if (column.fit === 'wrap') return wrap(cell, width);
    return [column.fit === 'cut' ? cut(cell, width) : cell];
  });
  const height = Math.max(...cells.map(({ length }) => length));
  return Array.from({ length: height }, (_, line) =>
    sized
      .map(({ column, width }, place) => style(column.style?.(row), pad(cells[place]?.[line] ?? '', width, column.align)))
      .join(gap)
      .trimEnd(),
  ).join('\n');
}

/** Renders a table with a line of titles. */
export function renderTable<Row>(rows: readonly Row[], columns: readonly Column<Row>[], { width, style }: Page): string {
  const all = measure(rows, columns);
  const sized = width === undefined ? all : fitInto(all, width);
  const titles = sized
    .map(({ column, width }) => pad(column.title, width, column.align))
    .join(gap)
    .trimEnd();
  return [style('dim', titles), ...rows.map((row, index) => renderRow(sized, index, { style, row }))].join('\n');
}
