// Figures of a run as data, and what can be read from them.
import { getMedian } from './measure-cpu.ts';
import type { ContenderId } from './rows.ts';
import { peers } from './rows.ts';

/** A cell of the table: the values of its rounds, or the reason why it has none. */
export type Cell = { readonly row: string; readonly contender: ContenderId } & (
  { readonly values: readonly number[] } | { readonly leftOut: string } | { readonly failure: string }
);

/** Everything that a run found out. Plain JSON. */
export interface Report {
  readonly date: string;
  readonly node: string;
  readonly machine: string;
  readonly rounds: number;
  readonly isQuick: boolean;
  /** Versions by package. */
  readonly versions: Readonly<Record<string, string>>;
  readonly cells: readonly Cell[];
  /** Kilobytes of `createAgent` and `aiSdk`, bundled and gzipped. */
  readonly bundleKilobytes?: number;
}

/** Median of a cell with its lowest and highest value. */
export interface Figure {
  readonly median: number;
  readonly lowest: number;
  readonly highest: number;
}

export function findCell({ cells }: Report, row: string, contender: ContenderId): Cell | undefined {
  return cells.find((cell) => cell.row === row && cell.contender === contender);
}

/** Finds a figure. Returns undefined if the cell was not measured. */
export function findFigure(report: Report, row: string, contender: ContenderId): Figure | undefined {
  const cell = findCell(report, row, contender);
  if (cell === undefined || !('values' in cell) || cell.values.length === 0) return undefined;
  return { median: getMedian(cell.values), lowest: Math.min(...cell.values), highest: Math.max(...cell.values) };
}

/** Divides two figures. Returns undefined if one was not measured. */
export function getRatio(figure: Figure | undefined, by: Figure | undefined): number | undefined {
  return figure === undefined || by === undefined || by.median === 0 ? undefined : figure.median / by.median;
}

/** Finds the other library with the lowest figure of a row. */
export function findFastestPeer(report: Report, row: string): ContenderId | undefined {
  const measured = peers.flatMap((contender) => {
    const figure = findFigure(report, row, contender);
    return figure === undefined ? [] : [{ contender, median: figure.median }];
  });
  return measured.sort((one, other) => one.median - other.median)[0]?.contender;
}

/** Largest difference between a round and the median of its cell, among cells of CPU time, as a share. */
export function getSpread(report: Report): number {
  const spreads = report.cells.flatMap(({ row, contender }) => {
    const figure = findFigure(report, row, contender);
    return figure === undefined || figure.median === 0 ? [] : [(figure.highest - figure.lowest) / 2 / figure.median];
  });
  return getMedian(spreads);
}
