// The report for a terminal: a block for each row, a line for each contender, then the wanted figures.
import type { Figure, Report } from './report.ts';
import { findCell, findFastestPeer, findFigure, getRatio } from './report.ts';
import type { ContenderId, Row } from './rows.ts';
import { contenders, plans } from './rows.ts';
import { listWanted } from './wanted.ts';

const titles = new Map<ContenderId, string>(contenders.map(({ id, title }) => [id, title]));

/** Writes a figure as a multiple of another contender's. */
function writeRatio(
  report: Report,
  { id, isCount = false }: Row,
  contenderAndBase: readonly [ContenderId, ContenderId | undefined],
): string {
  const [contender, base] = contenderAndBase;
  if (isCount || base === undefined || base === contender) return '';
  const ratio = getRatio(findFigure(report, id, contender), findFigure(report, id, base));
  if (ratio === undefined) return '';
  return `${ratio.toLocaleString('en', { maximumSignificantDigits: 3 })} × ${titles.get(base) ?? ''}`;
}

const writeSpread = ({ lowest, highest }: Figure, digits: number): string => `(${lowest.toFixed(digits)}–${highest.toFixed(digits)})`;

function writeLine(report: Report, row: Row, contender: ContenderId): string | undefined {
  const cell = findCell(report, row.id, contender);
  if (cell === undefined) return undefined;
  const name = `  ${titles.get(contender) ?? ''}`.padEnd(32);
  if ('leftOut' in cell) return `${name}${'–'.padStart(10)}   ${cell.leftOut}`;
  if ('failure' in cell) return `${name}${'failed'.padStart(10)}   ${cell.failure}`;
  const figure = findFigure(report, row.id, contender);
  if (figure === undefined) return undefined;
  const byHand = writeRatio(report, row, [contender, 'hand']);
  const byPeer = writeRatio(report, row, [contender, findFastestPeer(report, row.id)]);
  const value = figure.median.toFixed(row.digits).padStart(10);
  return `${name}${value}   ${writeSpread(figure, row.digits).padEnd(20)} ${byHand.padEnd(18)} ${byPeer}`.trimEnd();
}

function writeRow(report: Report, row: Row): readonly string[] {
  const lines = contenders.flatMap(({ id }) => writeLine(report, row, id) ?? []);
  return lines.length === 0 ? [] : [`${row.title}, ${row.unit}`, ...lines, ''];
}

/** Writes the wanted figures, each with what was measured. */
export function writeWanted(report: Report): readonly string[] {
  const toLine = (cells: readonly [string, string, string, string]): string =>
    `  ${cells[0].padEnd(46)}${cells[1].padEnd(40)}${cells[2].padEnd(30)}${cells[3]}`.trimEnd();
  return ['Wanted', ...listWanted(report).map(({ what, wanted, figure, status }) => toLine([what, wanted, figure, status]))];
}

/** Writes the versions, the machine and the way of measuring. */
export function writeHeader({ date, node, machine, rounds, versions }: Report): string {
  const names = Object.entries(versions).map(([name, version]) => `${name} ${version}`);
  const way = rounds === 1 ? 'one round' : `medians of ${rounds} interleaved rounds`;
  return `${date}, Node ${node}, ${machine}; ${names.join(', ')}. Main-thread CPU time, ${way}, each cell in its own process`;
}

/** Writes the whole report. */
export function writeText(report: Report): string {
  const rows = plans.flatMap((plan) => plan.rows).flatMap((row) => writeRow(report, row));
  return [writeHeader(report), '', ...rows, ...writeWanted(report), ''].join('\n');
}
