// An explanation in parts, and the lines that it is printed as.
// L1. Headline, details, "On the way:", "Next:", then the rules without an objection; never more than 40 lines.
import { listSome, toSentence } from '../lib/index.ts';

export interface Explanation {
  /** The end and its reason, in one or two sentences. */
  readonly headline: string;
  /** Sentences below it: the deciding rule, other objections. A line that lists something is indented. */
  readonly details: readonly string[];
  /** Things that went wrong before, with their steps. */
  readonly onTheWay?: readonly string[];
  /** One thing to do. */
  readonly next?: string | undefined;
  /** Names of the rules that had no objection. */
  readonly quiet?: readonly string[];
  /** Names of the limits that were not reached, with their numbers. */
  readonly underLimit?: readonly string[];
}

/** Number of lines of each part, and of names in a line. */
const [mostDetails, mostOnTheWay, mostNames] = [24, 5, 20];

function truncateLines(lines: readonly string[], most: number): readonly string[] {
  return lines.length <= most ? lines : [...lines.slice(0, most - 1), `  … and ${lines.length - most + 1} more.`];
}

/** Writes an explanation. `brief` leaves out the rules that had no objection. */
export function renderExplanation(explanation: Explanation, { brief = false }: { readonly brief?: boolean } = {}): string {
  const { headline, details, onTheWay = [], next, quiet = [], underLimit = [] } = explanation;
  const silent = [
    ...(quiet.length === 0 ? [] : [`No objection: ${listSome(quiet, mostNames)}.`]),
    ...(underLimit.length === 0 ? [] : [`Under the limit: ${listSome(underLimit, mostNames)}.`]),
  ];
  return [
    headline,
    ...truncateLines(details, mostDetails),
    ...(onTheWay.length === 0
      ? []
      : [
          'On the way:',
          ...truncateLines(
            onTheWay.map((line) => `  ${toSentence(line)}`),
            mostOnTheWay,
          ),
        ]),
    ...(next === undefined ? [] : [`Next: ${next}`]),
    ...(brief || silent.length === 0 ? [] : [silent.join(' ')]),
  ].join('\n');
}
