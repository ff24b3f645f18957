// Compares texts with the truth about a fault.
// Owns:     the problems of an explanation and of event lines, in words.
// Does not: judge wording: a fact may stand anywhere, except that one event line has to state the rule with its reason.
import type { Fact, Truth } from './fault.ts';
import { controlCharacters, findForgedLines, findSecrets } from './poison.ts';

/** Number of lines that an explanation may have. */
const mostLines = 40;

const states = (text: string, fact: Fact): boolean => (typeof fact === 'string' ? text.includes(fact) : fact.test(text));

const listMissing = (text: string, facts: readonly Fact[]): readonly string[] =>
  facts.filter((fact) => !states(text, fact)).map((fact) => `does not say ${String(fact)}`);

const listUntrue = (text: string, { untrue = [] }: Truth): readonly string[] =>
  untrue.filter((fact) => states(text, fact)).map((fact) => `says ${String(fact)}, which is untrue`);

function listUnsafe(text: string): readonly string[] {
  return [
    ...findSecrets(text).map((secret) => `shows the secret ${secret}`),
    ...findForgedLines(text).map((line) => `has a forged line: ${line}`),
    ...(controlCharacters.test(text) ? ['has control characters'] : []),
  ];
}

const namesStep = (step: number): RegExp => new RegExp(`\\bstep ${step}\\b`, 'i');

/** First line of an explanation by status. */
const headlines: Readonly<Record<Truth['status'], RegExp>> = {
  completed: /^Completed\b/,
  stopped: /^(?!Completed|Waiting|Failed|Finished)/,
  waiting: /^Waiting\b/,
  failed: /^(?!Completed|Waiting|Stopped|Finished)/,
};

/** Lists what is wrong with an explanation. */
export function findExplanationProblems(explanation: string, truth: Truth): readonly string[] {
  const { status, rule, reason, step, also = [], explained = [] } = truth;
  const lines = explanation.split('\n');
  return [
    ...(headlines[status].test(explanation) ? [] : [`has a first line that does not fit the status ${status}: ${lines[0] ?? ''}`]),
    ...listMissing(explanation, [...(rule === undefined ? [] : [rule]), ...reason, ...also, ...explained]),
    ...(step === undefined || namesStep(step).test(explanation) ? [] : [`does not say step ${step}`]),
    ...listUntrue(explanation, truth),
    ...listUnsafe(explanation),
    ...(lines.length > mostLines ? [`has ${lines.length} lines`] : []),
  ];
}

const lastLines: Readonly<Record<Truth['status'], RegExp>> = {
  completed: /run completed/,
  stopped: /run stopped/,
  waiting: /run waits/,
  failed: /run failed/,
};

/** Finds the line that comes closest to stating all of this. */
function findClosest(lines: readonly string[], facts: readonly Fact[]): readonly Fact[] {
  const missing = lines.map((line) => facts.filter((fact) => !states(line, fact)));
  return missing.reduce((best, each) => (each.length < best.length ? each : best), facts);
}

/** True if a line says the same thing twice. */
function repeatsItself(line: string): boolean {
  const parts = line.split(/; (?:also |left to do, )?|: STOP \([a-z_]+\) /).filter((part) => part.length > 20);
  return new Set(parts).size < parts.length;
}

/** Lists what no line of an event may be, whatever it says. */
export const findUnsafeLines = (lines: readonly string[]): readonly string[] => [
  ...lines.filter((line) => line.includes('\n')).map((line) => `is more than one line: ${line}`),
  ...lines
    .filter((line) => !/^Agent [^\n]{0,200}?\[[^\]]*\][^\n]{0,200}?: \S/.test(line))
    .map((line) => `does not start with the agent: ${line}`),
  ...lines.filter((line) => line.length > 2000).map((line) => `is ${line.length} characters long: ${line.slice(0, 200)}`),
  ...lines.filter(repeatsItself).map((line) => `says the same thing twice: ${line}`),
  ...listUnsafe(lines.join('\n')),
];

/** Lists what is wrong with the lines of events. */
export function findLineProblems(lines: readonly string[], truth: Truth): readonly string[] {
  const { status, rule, reason, step, also = [], logged = [] } = truth;
  const text = lines.join('\n');
  const atStep = step === undefined ? [] : [namesStep(step)];
  const unstated = findClosest(lines, [...(rule === undefined ? [] : [rule]), ...reason, ...atStep]);
  return [
    ...(lines.some((line) => lastLines[status].test(line)) ? [] : [`no line matches ${String(lastLines[status])}`]),
    ...unstated.map((fact) => `no single line has the rule and the whole reason: ${String(fact)} is missing`),
    ...listMissing(text, [...also, ...logged]),
    ...listUntrue(text, truth),
    ...findUnsafeLines(lines),
  ];
}
