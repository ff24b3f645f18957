// Draws a session: its executions, their steps, and the outcome after each step.
import { clip, closeSvg, openSvg, write } from './svg.mjs';

/** @typedef {{ readonly what: string, readonly shouldContinue: boolean, readonly stopReason?: string, readonly resolvedBy: string }} DrawnStep */
/** @typedef {{ readonly input: string, readonly status: string, readonly steps: readonly DrawnStep[] }} DrawnExecution */
/** @typedef {{ readonly executions: readonly DrawnExecution[], readonly stepCount: number, readonly tokens: number }} DrawnSession */

const size = { width: 880, edge: 16, gap: 12, top: 52, head: 54, step: 96 };

/** @type {(x: number, y: number, box: { readonly width: number, readonly height: number, readonly as: string }) => string} */
const drawBox = (x, y, { width, height, as }) =>
  `<rect x="${String(x)}" y="${String(y)}" width="${String(width)}" height="${String(height)}" rx="6" class="${as}"/>`;

/** @type {(step: DrawnStep, options: { readonly number: number, readonly x: number, readonly y: number, readonly width: number }) => string} */
function drawStep({ what, shouldContinue, stopReason, resolvedBy }, { number, x, y, width }) {
  const letters = Math.floor((width - 20) / 6.4);
  const decision = shouldContinue ? 'continue' : `stop: ${stopReason ?? ''}`;
  return [
    drawBox(x, y, { width, height: size.step - 14, as: 'box' }),
    write(`step ${String(number)}`, { x: x + 10, y: y + 20, as: 'strong small' }),
    write(clip(what, letters), { x: x + 10, y: y + 38, as: 'small' }),
    write(decision, { x: x + 10, y: y + 58, as: `small strong ${shouldContinue ? 'good' : 'go'}` }),
    write(clip(`by ${resolvedBy}`, letters), { x: x + 10, y: y + 73, as: 'small soft' }),
  ].join('\n');
}

/** Draws a session.
 * @type {(session: DrawnSession) => string} */
export function drawSession({ executions, stepCount, tokens }) {
  const count = executions.length;
  const width = Math.floor((size.width - 2 * size.edge - (count - 1) * size.gap) / count);
  const height = size.top + size.head + size.step + size.edge;
  const boxes = executions.flatMap(({ input, status, steps }, index) => {
    const x = size.edge + index * (width + size.gap);
    const stepWidth = Math.floor((width - size.gap) / steps.length) - size.gap;
    return [
      drawBox(x, size.top, { width, height: size.head + size.step, as: 'track-box' }),
      write(`execution ${String(index + 1)}: ${status}`, { x: x + size.gap, y: size.top + 22, as: 'strong' }),
      write(`Input: ${input}`, { x: x + size.gap, y: size.top + 41, as: 'small soft' }),
      ...steps.map((step, place) =>
        drawStep(step, {
          number: place + 1,
          x: x + size.gap + place * (stepWidth + size.gap),
          y: size.top + size.head,
          width: stepWidth,
        }),
      ),
    ];
  });
  const label = `A session of ${String(count)} executions and ${String(stepCount)} steps, with the outcome after each step.`;
  return `${openSvg({ width: size.width, height, label })}
${write('session', { x: size.edge, y: 32, as: 'strong' })}
${write(`${String(count)} executions, ${String(stepCount)} steps, ${tokens.toLocaleString('en')} tokens`, { x: size.edge + 66, y: 32, as: 'soft' })}
${boxes.join('\n')}
${closeSvg}`;
}
