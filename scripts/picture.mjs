// The pictures of README.md and docs/: each is drawn from the run of a code block on its page.
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { drawClocks } from './draw-clocks.mjs';
import { drawRun } from './draw-run.mjs';
import { drawSession } from './draw-session.mjs';
import { root, run } from './run.mjs';
import { readSnippets } from './snippets.mjs';

/** A picture: its file, its page, words that its code block contains, code that reports what is drawn, and the drawing.
 * @typedef {{ readonly file: string, readonly page: string, readonly marker: string, readonly report: string, readonly draw: (data: never) => string }} Picture */

const print = (/** @type {string} */ value) => `console.log('\\0' + JSON.stringify(${value}));`;

// Reads what the picture shows of the `result` that the README's code makes.
const reportRun = `
const { state } = result;
const steps = state.steps.map(({ executions }, index) => ({
  calls: executions.map(({ toolName, args, status, value, failure }) => ({ toolName, args, status, value, failure: failure?.message })),
  outcome: state.execution.results.at(index).outcome,
}));
${print('{ input: state.messages.at(0).text, steps, headline: result.explain({ brief: true }) }')}
`;

// Reads times from the `events` of a run that pauses, and its limits from the last decision.
const reportClocks = `
const readNumbers = (outcome, criterion) => outcome.getEvaluationFor(criterion).context;
const toNumbers = (outcome) => ({
  wall: readNumbers(outcome, 'ExecutionTimeLimit').elapsedSeconds,
  active: readNumbers(outcome, 'CumulativeExecutionTimeLimit').cumulativeSeconds,
});
const times = events.map(({ type, at, stepNumber, status, outcome }) => ({ type, at, stepNumber, status, ...(outcome && toNumbers(outcome)) }));
const end = done.state.lastContinuationOutcome;
const limits = {
  wall: readNumbers(end, 'ExecutionTimeLimit').maxSeconds,
  active: readNumbers(end, 'CumulativeExecutionTimeLimit').maxSeconds,
};
${print('{ input: done.state.messages.at(0).text, times, limits }')}
`;

// Reads executions and steps from the `state` of a conversation.
const reportSession = `
const inputs = state.messages.filter((message) => message.isUser()).map(({ text }) => text);
const toWhat = ({ toolCalls, outputMessages }) =>
  toolCalls.length > 0 ? 'calls ' + toolCalls.map(({ name }) => name).join(', ') : 'answers: ' + (outputMessages.at(-1)?.text ?? '');
const executions = state.session.executions.map(({ results }, index) => ({
  input: inputs[index],
  status: [...results].at(-1).outcome.stopReason,
  steps: [...results].map(({ step, outcome }) => ({
    what: toWhat(step),
    shouldContinue: outcome.shouldContinue,
    stopReason: outcome.stopReason,
    resolvedBy: outcome.resolvedBy,
  })),
}));
${print('{ executions, stepCount: state.session.stepCount, tokens: state.session.usage.total }')}
`;

/** The pictures.
 * @type {readonly Picture[]} */
export const pictures = [
  { file: 'docs/run.svg', page: 'README.md', marker: "agent.start('Where is Acme?')", report: reportRun, draw: drawRun },
  { file: 'docs/clocks.svg', page: 'docs/concepts.md', marker: 'clock.skip(14 * 3_600_000)', report: reportClocks, draw: drawClocks },
  { file: 'docs/session.svg', page: 'docs/concepts.md', marker: 'state.session.executions', report: reportSession, draw: drawSession },
];

/** Runs the code block of a picture, and draws it. `args` are options of Node, to find the package somewhere else.
 * @type {(picture: Picture, args?: readonly string[]) => Promise<string>} */
export async function drawPicture({ file, page, marker, report, draw }, args = []) {
  const block = readSnippets(page, readFileSync(join(root, page), 'utf8')).find(({ code }) => code.includes(marker));
  if (block === undefined) throw new Error(`${page} has no \`\`\`ts block with ${marker} to draw ${file}.`);
  mkdirSync(join(root, '.cache'), { recursive: true });
  const program = `.cache/${file.replaceAll(/\W+/g, '-')}.ts`;
  writeFileSync(join(root, program), block.code + report);
  const { ok, output } = await run('node', [...args, program], { timeoutMs: 60_000 });
  if (!ok) throw new Error(`The run to draw ${file} failed:\n${output}`);
  // Holds: the report of a picture prints what its drawing takes.
  return draw(/** @type {never} */ (JSON.parse(output.slice(output.indexOf('\0') + 1))));
}
