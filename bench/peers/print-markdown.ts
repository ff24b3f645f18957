// The tables that docs/performance.md and README.md hold.
import type { Report } from './report.ts';
import { findCell, findFigure, getSpread } from './report.ts';
import { writeHeader } from './print-text.ts';
import type { ContenderId, Row } from './rows.ts';
import { contenders, plans } from './rows.ts';
import { listWanted } from './wanted.ts';

const allRows = plans.flatMap(({ rows }) => rows);
const toLine = (cells: readonly string[]): string => `| ${cells.join(' | ')} |`;
const toTable = (head: readonly string[], lines: readonly (readonly string[])[]): string =>
  [head, head.map(() => '---'), ...lines].map(toLine).join('\n');

/** Formats a number with at most three significant digits and thousands separators. */
function writeNumber(value: number, digits: number): string {
  const rounded = value >= 100 ? Math.round(value) : Number(value.toFixed(Math.max(digits, value < 10 ? 1 : 0)));
  return digits === 0 ? String(Math.round(value)) : rounded.toLocaleString('en', { maximumFractionDigits: 2 });
}

function writeCell(report: Report, { id, digits }: Row, contender: ContenderId): string {
  const figure = findFigure(report, id, contender);
  if (figure !== undefined) return writeNumber(figure.median, digits);
  const cell = findCell(report, id, contender);
  return cell !== undefined && 'failure' in cell ? 'failed' : '–';
}

function writeMainTable(report: Report): string {
  const head = ['', ...contenders.map(({ column }) => column)];
  const lines = allRows
    .filter(({ id }) => findCell(report, id, 'run') !== undefined)
    .map((row) => [`${row.title}, ${row.unit}`, ...contenders.map(({ id }) => writeCell(report, row, id))]);
  return toTable(head, lines);
}

/** Explains why cells of other libraries are empty. */
function writeLeftOut(report: Report): string {
  const reasons = report.cells.flatMap((cell) => {
    if (!('leftOut' in cell) || !cell.leftOut.startsWith('one run')) return [];
    const title = contenders.find(({ id }) => id === cell.contender)?.title ?? '';
    return [`${title} at ${allRows.find(({ id }) => id === cell.row)?.title ?? ''}, because ${cell.leftOut}`];
  });
  const rest = 'A dash means that the way of use or the library has nothing of its own to measure there';
  return reasons.length === 0 ? `${rest}.` : `${rest}; left out for time are ${reasons.join(', ')}.`;
}

const writeWantedTable = (report: Report): string =>
  toTable(
    ['wanted', 'at most', 'measured', ''],
    listWanted(report).map(({ what, wanted, figure, status }) => [what, wanted, figure, status === 'missed' ? '**missed**' : status]),
  );

/** Writes the section of docs/performance.md. */
export function writeMarkdown(report: Report): string {
  const spread = `Rounds differ from their median by ${(100 * getSpread(report)).toFixed(0)} % (median of all cells).`;
  const header = `${writeHeader(report)}.${report.rounds === 1 ? '' : ` ${spread}`}`;
  return [header, writeMainTable(report), writeLeftOut(report), writeWantedTable(report)].join('\n\n');
}

const shortRows = ['steps-100', 'steps-5000', 'ten-tools', 'deltas', 'sessions', 'idle'];
const shortColumns: readonly (readonly [id: ContenderId, title: string, name?: string])[] = [
  ['hand', 'by hand'],
  ['run', 'Stepline with `aiSdk()`', 'stepline'],
  ['ai', 'ai', 'ai'],
  ['openai', 'openai-agents', '@openai/agents'],
  ['langgraph', 'langgraph', '@langchain/langgraph'],
];

/** Writes the table of README.md. Its header has the versions. */
export function writeShortMarkdown(report: Report): string {
  const rows = allRows.filter(({ id }) => shortRows.includes(id));
  const titles = shortColumns.map(([, title, name]) => (name === undefined ? title : `${title} ${report.versions[name] ?? ''}`));
  return toTable(
    [`${report.date}, Node ${report.node}`, ...titles],
    rows.map((row) => [`${row.title}, ${row.unit}`, ...shortColumns.map(([id]) => writeCell(report, row, id))]),
  );
}
