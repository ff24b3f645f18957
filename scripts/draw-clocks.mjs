// Draws the three clocks of one execution: what each of them counts, from the events of a run.
import { closeSvg, openSvg, write } from './svg.mjs';

/** @typedef {'work' | 'retry' | 'person'} SpanKind */
/** @typedef {{ readonly kind: SpanKind, readonly step: number, readonly seconds: number, readonly wall?: number, readonly active?: number }} Span Wall and active time are those at its end, if a step was recorded there. */
/** @typedef {{ readonly type: string, readonly at: number, readonly stepNumber: number, readonly status?: string, readonly wall?: number, readonly active?: number }} TimedEvent */
/** @typedef {{ readonly input: string, readonly times: readonly TimedEvent[], readonly limits: { readonly wall: number, readonly active: number } }} DrawnClocks */

const size = { width: 880, label: 150, edge: 16, top: 96, row: 46 };
const shares = { work: 1, retry: 2, person: 2.2 };
const kinds = { work: 'work', retry: 'waits for a retry', person: 'waits for a person' };

/** Clocks, and the kinds of time that each of them counts.
 * @type {readonly { readonly name: string, readonly option: string, readonly counts: readonly SpanKind[], readonly field?: 'wall' | 'active' }[]} */
const clocks = [
  { name: 'wall clock', option: 'limits.wallMs', counts: ['work', 'retry'], field: 'wall' },
  { name: 'active time', option: 'limits.activeMs', counts: ['work'], field: 'active' },
  { name: 'waiting', option: 'counts nowhere', counts: ['person'] },
];

/** Types of events at which a span of each kind ends.
 * @type {Readonly<Record<SpanKind, readonly string[]>>} */
const ends = { work: ['ContinuationEvaluated', 'AgentFinished'], retry: ['AgentStepStarted'], person: ['AgentExecutionStarted'] };

/** Reads what the time between events was spent on.
 * @type {(times: readonly TimedEvent[]) => readonly Span[]} */
function readSpans(times) {
  /** @type {Span[]} */
  const spans = [];
  /** @type {SpanKind} */
  let kind = 'work';
  let from = times[0]?.at ?? 0;
  let step = 1;
  for (const { type, at, stepNumber, status, wall, active } of times) {
    if (ends[kind].includes(type)) {
      const seconds = (at - from) / 1000;
      const isWork = kind === 'work';
      if (seconds > 0) spans.push({ kind, step: isWork ? Math.max(1, stepNumber) : step, seconds, ...(isWork && { wall, active }) });
      [from, kind, step] = [at, 'work', Math.max(1, stepNumber)];
    }
    if (type === 'RetryScheduled') kind = 'retry';
    if (type === 'AgentFinished' && status === 'waiting') kind = 'person';
  }
  return spans;
}

const toLength = (/** @type {number} */ seconds) => (seconds >= 3600 ? `${String(seconds / 3600)} h` : `${String(seconds)} s`);

/** @type {(spans: readonly Span[]) => readonly (Span & { readonly x: number, readonly width: number })[]} */
function place(spans) {
  const room = size.width - size.label - 2 * size.edge;
  const all = spans.reduce((sum, { kind }) => sum + shares[kind], 0);
  let x = size.edge + size.label;
  return spans.map((span) => {
    const width = Math.round((room * shares[span.kind]) / all);
    const placed = { ...span, x, width };
    x += width;
    return placed;
  });
}

/** Draws the clocks of a run.
 * @type {(clocks: DrawnClocks) => string} */
export function drawClocks({ input, times, limits }) {
  const placed = place(readSpans(times));
  const height = size.top + clocks.length * size.row + 8;
  const label = 'Three clocks of one execution: the wall clock, active time, and the time spent waiting for people.';
  const heads = placed.flatMap(({ kind, step, seconds, x }) => [
    write(`step ${String(step)}`, { x, y: 58, as: 'strong small' }),
    write(`${kind === 'work' ? '' : `${kinds[kind]}, `}${toLength(seconds)}`, { x, y: 76, as: 'small soft' }),
  ]);
  const rows = clocks.flatMap(({ name, option, counts, field }, row) => {
    const y = size.top + row * size.row;
    const limit = field === undefined ? '' : `, ${toLength(limits[field])}`;
    return [
      `<line x1="${String(size.edge)}" x2="${String(size.width - size.edge)}" y1="${String(y - 8)}" y2="${String(y - 8)}" class="line"/>`,
      write(name, { x: size.edge, y: y + 10, as: 'strong' }),
      write(`${option}${limit}`, { x: size.edge, y: y + 26, as: 'small soft' }),
      ...placed.map(
        ({ kind, x, width }) =>
          `<rect x="${String(x)}" y="${String(y + 2)}" width="${String(width - 3)}" height="10" rx="3" class="${counts.includes(kind) ? 'used' : 'track'}"/>`,
      ),
      ...placed.flatMap((span) =>
        field === undefined || span[field] === undefined
          ? []
          : [write(`${String(span[field])} s`, { x: span.x + span.width - 5, y: y + 27, as: 'small right' })],
      ),
    ];
  });
  return `${openSvg({ width: size.width, height, label })}
${write(`Input: ${input}`, { x: size.edge, y: 30, as: 'strong' })}
${heads.join('\n')}
${rows.join('\n')}
${closeSvg}`;
}
