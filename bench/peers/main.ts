// Compares Stepline with other libraries and with a hand-written loop.
//   npm run bench:peers -- --help
import { readFileSync, writeFileSync } from 'node:fs';
import { cpus } from 'node:os';
import { fileURLToPath } from 'node:url';
import type { Options } from './options.ts';
import { parseOptions } from './options.ts';
import { installPacked, measureBundle, readVersions } from './packed.ts';
import { writeMarkdown, writeShortMarkdown } from './print-markdown.ts';
import { writeText } from './print-text.ts';
import type { Report } from './report.ts';
import { plans } from './rows.ts';
import { runRounds } from './run-cells.ts';
import { formatMarkdown, writeBetweenMarkers } from './write-docs.ts';

const toPath = (file: string): string => fileURLToPath(new URL(`../../${file}`, import.meta.url));

/** Measures all rounds. Writes a report after each, so that an interrupted run still leaves results. */
function measure(options: Options): Report {
  installPacked();
  const isWhole = options.plans.length === plans.length;
  let report: Report = {
    date: new Date().toISOString().slice(0, 10),
    node: process.versions.node,
    machine: `${cpus().length} × ${cpus()[0]?.model ?? 'unknown processor'}`,
    rounds: 0,
    isQuick: options.isQuick,
    versions: readVersions(),
    cells: [],
    ...(isWhole ? { bundleKilobytes: measureBundle() } : {}),
  };
  for (const cells of runRounds(options)) {
    report = { ...report, cells, rounds: report.rounds + 1 };
    if (options.json !== undefined) writeFileSync(options.json, `${JSON.stringify(report, undefined, 2)}\n`);
  }
  return report;
}

// Holds: --json wrote the file.
const readReport = (file: string): Report => JSON.parse(readFileSync(file, 'utf8')) as Report;

async function main(options: Options): Promise<void> {
  const report = options.from === undefined ? measure(options) : readReport(options.from);
  const page = toPath('docs/performance.md');
  process.stdout.write(options.printsMarkdown ? await formatMarkdown(writeMarkdown(report), page) : writeText(report));
  if (options.writesDocs) {
    if (report.isQuick) throw new Error('The report comes from --quick. Measure all rounds for the documentation.');
    await writeBetweenMarkers(page, writeMarkdown(report));
    await writeBetweenMarkers(toPath('README.md'), writeShortMarkdown(report));
  }
  if (report.cells.some((cell) => 'failure' in cell)) process.exitCode = 1;
}

const options = parseOptions(process.argv.slice(2));
if (typeof options === 'string') process.stdout.write(`${options}\n`);
else await main(options);
