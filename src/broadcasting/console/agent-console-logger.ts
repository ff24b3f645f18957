// The log of events on a console.
// C1. An event is one line, whole in itself: lines of agents that run side by side may come in any order.
// C2. A line has no secret, and no control character but its own colours.
import type { BaseEvent } from '../../events/index.ts';
import { describeEvent, isDetailEvent } from '../../events/index.ts';
import type { Callback, Redactor } from '../../lib/index.ts';
import { checkKeys, cutLine, defaultRedactor, readField, toLine } from '../../lib/index.ts';
import { AgentNames } from './agent-names.ts';
import type { Paint } from './colors.ts';
import { Color, isColorTerminal, paintColored, paintPlain } from './colors.ts';
import { getLabel } from './labels.ts';

/** Options of a log. */
export interface ConsoleLoggerOptions {
  /** `debug` adds events that repeat what others say, and every evaluation of a decision. @default 'info' */
  readonly level?: 'info' | 'debug';
  /** @default true if the output is a terminal, unless NO_COLOR is set */
  readonly colors?: boolean;
  /** Writes a line. @default console.log */
  readonly print?: (line: string) => unknown;
  /** Removes secrets. @default the one that knows the obvious secrets */
  readonly redactor?: Redactor;
}

/** Pieces of text say nothing on lines of their own. */
const pieces = new Set(['TextDelta', 'ReasoningDelta']);

const printToConsole = (line: string): void => {
  // eslint-disable-next-line no-console -- the console is what this is for
  console.log(line);
};

/** Colours that tell agents apart. */
const agentColors = [Color.Green, Color.Blue, Color.Magenta, Color.Cyan, Color.Yellow] as const;

/** Prints the events of agents, a line each: `agent.wiretap(new AgentConsoleLogger().log)`. */
export class AgentConsoleLogger {
  readonly #isDebug: boolean;
  readonly #paint: Paint;
  readonly #print: (line: string) => unknown;
  readonly #redactor: Redactor;
  readonly #names = new AgentNames();
  readonly #colors = new Map<string, Color>();

  constructor(options: ConsoleLoggerOptions = {}) {
    checkKeys('AgentConsoleLogger', options, ['level', 'colors', 'print', 'redactor']);
    const { level = 'info', colors = isColorTerminal(), print = printToConsole, redactor = defaultRedactor } = options;
    this.#isDebug = level === 'debug';
    this.#paint = colors ? paintColored : paintPlain;
    this.#print = print;
    this.#redactor = redactor;
  }

  /** Prints an event. Pass it on as it is, to `wiretap` or as the `onEvent` of a session runtime. */
  readonly log: Callback<[event: BaseEvent], void> = (event) => {
    // Named in the order in which they appear, also if their first events are not shown.
    const path = this.#names.getPath(event);
    if (pieces.has(event.type) || (!this.#isDebug && isDetailEvent(event))) return;
    this.#print(this.#toLine(event, path));
  };

  #toLine(event: BaseEvent, path: string): string {
    const { at, stepNumber, participant } = event;
    const { text, color } = getLabel(event);
    const time = new Date(at).toISOString().slice(11);
    const turn = participant === undefined || path.endsWith(participant) ? '' : ` (${toLine(participant)})`;
    const step = stepNumber === 0 ? '' : `step ${stepNumber}${turn}: `;
    const words = toLine(this.#redactor.text(describeEvent(event, this.#redactor)));
    const line = [this.#paint(Color.Dim, time), this.#paintName(path), this.#paint(color, text.padEnd(4)), `${step}${words}`].join(' ');
    return `${line}${this.#listEvaluations(event)}`;
  }

  #paintName(path: string): string {
    const color = this.#colors.get(path) ?? agentColors[this.#colors.size % agentColors.length] ?? Color.Green;
    this.#colors.set(path, color);
    return this.#paint(color, `[${path}]`);
  }

  /** Lists every evaluation of a decision. */
  #listEvaluations(event: BaseEvent): string {
    const evaluations = this.#isDebug ? readField(readField(event, 'outcome'), 'evaluations') : undefined;
    if (!Array.isArray(evaluations) || evaluations.length === 0) return '';
    const all = evaluations.map((evaluation: unknown) => {
      const read = (key: string): string => {
        const value = readField(evaluation, key);
        return typeof value === 'string' ? cutLine(toLine(this.#redactor.text(value))) : '';
      };
      const [criterion, reason] = [read('criterion'), read('reason')];
      // A default reason starts with the name of the criterion, and says nothing more.
      return `${criterion} ${read('decision')}${reason.startsWith(`${criterion} `) ? '' : `: ${reason}`}`;
    });
    return ` ${this.#paint(Color.Dim, `[${all.join(' | ')}]`)}`;
  }
}
