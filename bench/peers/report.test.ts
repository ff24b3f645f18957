import { describe, expect, it } from 'vitest';
import { parseOptions } from './options.ts';
import { writeMarkdown, writeShortMarkdown } from './print-markdown.ts';
import { writeText } from './print-text.ts';
import type { Cell, Report } from './report.ts';
import { findFastestPeer, findFigure } from './report.ts';
import type { ContenderId } from './rows.ts';
import { plans } from './rows.ts';
import { listWanted } from './wanted.ts';
import { replaceBetweenMarkers } from './write-docs.ts';

const measure = (row: string, contender: ContenderId, ...values: readonly number[]): Cell => ({ row, contender, values });

const createReport = (...cells: readonly Cell[]): Report => ({
  ...{ date: '2026-01-02', node: '24.0.0', machine: '2 × processor', rounds: 3, isQuick: false },
  versions: { stepline: '0.1.0', ai: '7.0.0' },
  cells,
});

const findLine = (report: Report, what: string) => listWanted(report).find((line) => line.what === what);

describe('wanted figures', () => {
  it('are met up to their limit', () => {
    const report = createReport(measure('ten-tools', 'run', 10), measure('ten-tools', 'ai', 60));
    expect(findLine(report, 'ten parallel tools')).toMatchObject({ figure: '0.17 of ai', status: 'met' });
  });

  it('are missed above it', () => {
    const report = createReport(measure('steps-100', 'run', 10.1), measure('steps-100', 'ai', 60));
    expect(findLine(report, 'step at 100 steps')?.status).toBe('missed');
  });

  it('compare medians of the rounds', () => {
    const report = createReport(measure('steps-5000', 'own', 12, 90, 13), measure('steps-100', 'own', 10, 10, 1));
    expect(findLine(report, 'step at 5,000 ÷ step at 100, own Model')).toMatchObject({ figure: '1.30', status: 'met' });
  });

  it('compare deltas with the fastest of the other libraries', () => {
    const report = createReport(measure('deltas', 'run', 2), measure('deltas', 'ai', 19), measure('deltas', 'openai', 1));
    expect(findFastestPeer(report, 'deltas')).toBe('openai');
    expect(findLine(report, 'streamed delta, run()')).toMatchObject({ figure: '2.00 of openai-agents', status: 'missed' });
  });

  it('are not judged if a cell failed or was left out', () => {
    const report = createReport(measure('sessions', 'run', 1), { row: 'sessions', contender: 'ai', failure: 'Error: out of memory' });
    expect(findLine(report, '1,000 sessions × 10 steps')?.status).toBe('not measured');
    expect(findFigure(report, 'sessions', 'ai')).toBeUndefined();
  });
});

describe('a printed report', () => {
  const report = createReport(
    measure('steps-100', 'hand', 2, 1, 3),
    measure('steps-100', 'run', 20),
    measure('steps-100', 'ai', 100),
    { row: 'steps-100', contender: 'openai', leftOut: 'one run takes more than 10 s' },
    { row: 'steps-100', contender: 'langgraph', failure: 'Error: broken' },
  );

  it('shows spread, ratios, reasons and failures', () => {
    const lines = writeText(report).split('\n');
    const find = (name: string) => lines.find((line) => line.startsWith(`  ${name} `))?.replaceAll(/\s+/g, ' ');
    expect(find('by hand')).toContain('2.0 (1.0–3.0)');
    expect(find('Stepline, aiSdk(), run()')).toContain('20.0 (20.0–20.0) 10 × by hand 0.2 × ai');
    expect(find('openai-agents')).toContain('– one run takes more than 10 s');
    expect(find('langgraph')).toContain('failed Error: broken');
  });

  it('is a table in Markdown, with the reasons below', () => {
    const page = writeMarkdown(report);
    expect(page).toContain('| 100 steps, µs per step | 2 | – | 20 | – | – | – | 100 | – | failed |');
    expect(page).toContain('openai-agents at 100 steps, because one run takes more than 10 s');
    expect(writeShortMarkdown(report)).toContain('| 100 steps, µs per step | 2 | 20 | 100 | – | failed |');
  });

  it('replaces what is between the markers of a page only', () => {
    const page = 'before\n<!-- bench:peers -->\nold\n<!-- /bench:peers -->\nafter';
    const renewed = replaceBetweenMarkers(page, 'new');
    expect(renewed).toBe('before\n<!-- bench:peers -->\n\nnew\n\n<!-- /bench:peers -->\nafter');
    expect(replaceBetweenMarkers(renewed, 'new')).toBe(renewed);
    expect(() => replaceBetweenMarkers('no markers', 'new')).toThrow('The page has no <!-- bench:peers -->');
  });
});

describe('options', () => {
  it('measure all rows in three rounds by default', () => {
    expect(parseOptions([])).toMatchObject({ rounds: 3, isQuick: false, plans });
  });

  it('pick the job of a row', () => {
    const options = parseOptions(['--only', 'save']);
    expect(typeof options === 'string' ? [] : options.plans.map(({ id }) => id)).toEqual(['snapshot']);
  });

  it('name the rows if one is unknown', () => {
    expect(() => parseOptions(['--only', 'speed'])).toThrow('Unknown row "speed". Rows: steps-10, steps-100');
  });

  it('do not write a part of the table into the documentation', () => {
    expect(() => parseOptions(['--write-docs', '--quick'])).toThrow('--write-docs needs all rows and all rounds.');
  });

  it('do not measure fewer than three rounds', () => {
    expect(() => parseOptions(['--rounds', '2'])).toThrow('--rounds must be a whole number of 3 or more, not 2.');
  });
});
