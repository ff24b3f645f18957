// Goals for the library, as ratios within one run, and whether it reached them.
import type { Figure, Report } from './report.ts';
import { findFastestPeer, findFigure, getRatio } from './report.ts';
import type { ContenderId } from './rows.ts';
import { contenders } from './rows.ts';

/** A wanted figure beside the one that was measured. */
export interface WantedLine {
  readonly what: string;
  readonly wanted: string;
  readonly figure: string;
  readonly status: 'met' | 'missed' | 'not measured';
}

interface Limit {
  readonly what: string;
  readonly wanted: string;
  readonly value: number | undefined;
  readonly most: number;
  readonly unit: string;
}

const notMeasured = 'not measured';

function judge({ what, wanted, value, most, unit }: Limit): WantedLine {
  if (value === undefined) return { what, wanted, figure: '–', status: notMeasured };
  return { what, wanted, figure: `${value.toFixed(value < 10 ? 2 : 1)}${unit}`, status: value <= most ? 'met' : 'missed' };
}

/** A figure that another command measures. */
const pointTo = (what: string, wanted: string, command: string): WantedLine => ({
  ...{ what, wanted },
  figure: `see \`npm run ${command}\``,
  status: notMeasured,
});

const getTitle = (id: ContenderId | undefined): string => contenders.find((contender) => contender.id === id)?.title ?? 'a peer';

/** Compares a report with what is wanted. */
export function listWanted(report: Report): readonly WantedLine[] {
  const find = (row: string, contender: ContenderId): Figure | undefined => findFigure(report, row, contender);
  const besideAi = (row: string): number | undefined => getRatio(find(row, 'run'), find(row, 'ai'));
  const growth = (id: ContenderId, name: string): WantedLine =>
    judge({
      what: `step at 5,000 ÷ step at 100, ${name}`,
      wanted: '≤ 1.3',
      value: getRatio(find('steps-5000', id), find('steps-100', id)),
      ...{ most: 1.3, unit: '' },
    });
  const fastest = findFastestPeer(report, 'deltas');
  const delta = (id: ContenderId, name: string): WantedLine =>
    judge({
      what: `streamed delta, ${name}`,
      wanted: 'no slower than the fastest peer',
      value: fastest === undefined ? undefined : getRatio(find('deltas', id), find('deltas', fastest)),
      ...{ most: 1, unit: ` of ${getTitle(fastest)}` },
    });
  const ofAi = ' of ai';
  return [
    judge({ what: 'step at 100 steps', wanted: '≤ 1/6 of ai', value: besideAi('steps-100'), most: 1 / 6, unit: ofAi }),
    growth('own', 'own Model'),
    growth('run', 'run()'),
    growth('start', 'start()'),
    growth('compacted', 'compacted'),
    judge({ what: 'ten parallel tools', wanted: '≤ 1/6 of ai', value: besideAi('ten-tools'), most: 1 / 6, unit: ofAi }),
    delta('run', 'run()'),
    delta('start', 'start()'),
    judge({ what: '1,000 sessions × 10 steps', wanted: '≤ 1/3 of ai', value: besideAi('sessions'), most: 1 / 3, unit: ofAi }),
    judge({ what: 'kept per idle session', wanted: '≤ ai', value: besideAi('idle'), most: 1, unit: ofAi }),
    judge({ what: 'save 100 steps', wanted: '≤ 0.4 ms', value: find('save', 'run')?.median, most: 0.4, unit: ' ms' }),
    judge({ what: 'restore 100 steps', wanted: '≤ 0.8 ms', value: find('restore', 'run')?.median, most: 0.8, unit: ' ms' }),
    judge({ what: '`createAgent` and `aiSdk`, gzipped', wanted: '≤ 74 kB', value: report.bundleKilobytes, most: 74, unit: ' kB' }),
    pointTo('a session of 10,000 steps opens from SQLite', '≤ 50 ms', 'bench:open'),
    pointTo('200 durable sessions', '≥ 0.6 of bare commits; 8,000 steps/s', 'bench:sessions'),
  ];
}
