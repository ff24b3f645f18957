// Draws a run as an SVG: a column for each step, a row for each criterion, and why the run stopped.
// A criterion with a budget is a meter; the others say what they answered. Light or dark, as the reader's system is.

import { clip, closeSvg, openSvg, write } from './svg.mjs';

/** @typedef {import('./svg.mjs').Place} Place */
/** @typedef {{ readonly criterion: string, readonly decision: string, readonly context: Readonly<Record<string, unknown>> }} Evaluation */
/** @typedef {{ readonly shouldContinue: boolean, readonly resolvedBy: string, readonly evaluations: readonly Evaluation[] }} Outcome */
/** @typedef {{ readonly toolName: string, readonly args: unknown, readonly status: string, readonly value?: unknown, readonly failure?: string }} Call */
/** @typedef {{ readonly input: string, readonly steps: readonly { readonly calls: readonly Call[], readonly outcome: Outcome }[], readonly headline: string }} DrawnRun */

const size = { width: 880, label: 186, row: 32, top: 138, edge: 16 };

/** Fields of an evaluation's context that are a budget: used, allowed, unit.
 * @type {readonly (readonly [used: string, allowed: string, unit: string])[]} */
const budgets = [
  ['currentSteps', 'maxSteps', ' steps'],
  ['currentUsage', 'maxTokens', ' tokens'],
  ['elapsedSeconds', 'maxSeconds', ' seconds'],
  ['consecutiveFailures', 'maxRetries', ' failures'],
];

/** @type {Readonly<Record<string, string>>} */
const answers = { allow: 'no objection', request: 'continue', stop: 'may stop', forbid: 'stop' };

/** @type {(evaluation: Evaluation) => { readonly used: number, readonly allowed: number, readonly unit: string } | undefined} */
function readBudget({ context }) {
  for (const [used, allowed, unit] of budgets) {
    const [now, most] = [context[used], context[allowed]];
    // Whole numbers: the time of a run differs by milliseconds from one drawing to the next.
    if (typeof now === 'number' && typeof most === 'number') return { used: Math.floor(now), allowed: most, unit };
  }
  return undefined;
}

/** @type {(budget: NonNullable<ReturnType<typeof readBudget>>, place: Place & { readonly width: number, readonly decides: boolean }) => string} */
function drawMeter({ used, allowed, unit }, { x, y, width, decides }) {
  const share = Math.min(1, used / allowed);
  const bar = (/** @type {string} */ as, /** @type {number} */ wide) =>
    `<rect x="${String(x)}" y="${String(y + 5)}" width="${String(Math.round(wide))}" height="6" rx="3" class="${as}"/>`;
  const numbers = `${used.toLocaleString('en')} of ${allowed.toLocaleString('en')}${unit}`;
  return [
    write(numbers, { x, y: y - 1, as: decides ? 'small strong bad' : 'small soft' }),
    bar('track', width),
    ...(share === 0 ? [] : [bar(decides ? 'full' : 'used', Math.max(6, width * share))]),
  ].join('');
}

/** @type {(evaluation: Evaluation, options: Place & { readonly width: number, readonly decides: boolean }) => string} */
function drawEvaluation(evaluation, { x, y, width, decides }) {
  const budget = readBudget(evaluation);
  // A retry is shown as a request: its budget stands in the row of the policy.
  if (budget !== undefined && evaluation.decision !== 'request') return drawMeter(budget, { x, y, width, decides });
  const text = answers[evaluation.decision] ?? evaluation.decision;
  const as = evaluation.decision === 'request' ? 'go' : evaluation.decision === 'forbid' ? 'bad strong' : 'soft';
  return write(text, { x, y: y + 4, as: `small ${decides ? 'strong ' : ''}${as}` });
}

/** @type {(step: DrawnRun['steps'][number], options: { readonly number: number, readonly x: number, readonly width: number }) => string} */
function drawHead({ calls }, { number, x, width }) {
  const letters = Math.floor(width / 7.4);
  const [call] = calls;
  const args = call === undefined ? [] : Object.values(/** @type {object} */ (call.args)).map((value) => JSON.stringify(value));
  const failed = call?.status === 'failed';
  const end = call === undefined ? '' : failed ? `failed: ${call.failure ?? ''}` : `returned: ${String(call.value)}`;
  return [
    write(`Step ${String(number)}`, { x, y: 84, as: 'strong' }),
    write(call === undefined ? 'answer' : clip(`${call.toolName}(${args.join(', ')})`, letters), { x, y: 105, as: 'mono' }),
    write(clip(end, Math.floor(width / 6.2)), { x, y: 123, as: `small ${failed ? 'bad' : 'soft'}` }),
  ].join('\n');
}

/** Draws a run.
 * @type {(run: DrawnRun) => string} */
export function drawRun({ input, steps, headline }) {
  const last = steps.at(-1);
  if (last === undefined) throw new Error('A run without a step cannot be drawn.');
  const names = last.outcome.evaluations.map(({ criterion }) => criterion);
  const column = (size.width - size.label - 2 * size.edge) / steps.length;
  const toX = (/** @type {number} */ index) => Math.round(size.edge + size.label + index * column);
  const width = Math.round(column - 22);
  const toY = (/** @type {number} */ index) => size.top + index * size.row + 16;
  const bottom = size.top + names.length * size.row;
  const height = bottom + 58;
  const line = (/** @type {number} */ y) =>
    `<line x1="${String(size.edge)}" x2="${String(size.width - size.edge)}" y1="${String(y)}" y2="${String(y)}" class="line"/>`;
  const [why = ''] = headline.split('\n');

  const rows = names.flatMap((name, row) => [
    line(size.top + row * size.row),
    write(name, { x: size.edge, y: toY(row) + 4, as: last.outcome.resolvedBy === name ? 'strong' : '' }),
    ...steps.flatMap(({ outcome }, index) => {
      const evaluation = outcome.evaluations.find(({ criterion }) => criterion === name);
      const place = { x: toX(index), y: toY(row), width, decides: outcome.resolvedBy === name };
      return evaluation === undefined ? [] : [drawEvaluation(evaluation, place)];
    }),
  ]);
  const ends = steps.flatMap(({ outcome }, index) => [
    write(outcome.shouldContinue ? 'continue' : 'STOP', {
      x: toX(index),
      y: bottom + 24,
      as: `strong ${outcome.shouldContinue ? 'good' : 'bad'}`,
    }),
    write(`by ${outcome.resolvedBy}`, { x: toX(index), y: bottom + 42, as: 'small soft' }),
  ]);

  return `${openSvg({ width: size.width, height, label: why })}
<rect x="${String(toX(steps.length - 1) - 10)}" y="64" width="${String(Math.round(column) + 2)}" height="${String(height - 64 - 8)}" rx="6" class="end"/>
${write(why, { x: size.edge, y: 32, as: 'strong' })}
${write(`Input: ${input}`, { x: size.edge, y: 52, as: 'soft' })}
${write('criterion', { x: size.edge, y: 123, as: 'small soft' })}
${steps.map((step, index) => drawHead(step, { number: index + 1, x: toX(index), width: column - 12 })).join('\n')}
${rows.join('\n')}
${line(bottom)}
${write('decision', { x: size.edge, y: bottom + 24, as: 'small soft' })}
${ends.join('\n')}
${closeSvg}`;
}
