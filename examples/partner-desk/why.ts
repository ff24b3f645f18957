// Why a run stands where it stands: in two lines after an answer, and in full on demand.
import type { AgentState, ContinuationEvaluation, ContinuationOutcome } from 'stepline';
import { redactJson, redactText } from './redacted.ts';
import type { Screen } from './screen.ts';
import { clipText, pluralize, harmless, json, label, margin, time, wrapLine } from './screen.ts';

/** The counters of the current execution on one line. */
export function counters(state: AgentState): string {
  const { stepCount, usage, execution } = state;
  const { total, unknownCalls = 0 } = usage;
  const unknown = unknownCalls === 0 ? '' : ` and ${pluralize(unknownCalls, 'call')} of unknown size`;
  return `${pluralize(stepCount, 'step')} · ${pluralize(total, 'token')}${unknown} · ${time(execution.activeMs)} active`;
}

function showLines(screen: Screen, lines: readonly string[]): void {
  const rows = lines.flatMap((line) => wrapLine(harmless(line), screen.width - margin.length - 1));
  for (const [index, row] of rows.entries()) screen.line(`${index === 0 ? label(screen, 'why') : margin}${screen.paint.dim(row)}`);
}

/** After an answer: why it stopped, and what it took. */
export function showWhy(screen: Screen, state: AgentState): void {
  const lines = state.explain({ brief: true }).split('\n');
  screen.freshLine();
  showLines(screen, [...lines, counters(state)]);
}

/** The whole explanation. */
export function showExplanation(screen: Screen, state: AgentState): void {
  showLines(screen, state.explain().split('\n'));
}

function showEvaluations(screen: Screen, { evaluations, resolvedBy }: ContinuationOutcome): void {
  const { paint } = screen;
  const widest = Math.max(0, ...evaluations.map(({ criterion }) => criterion.length));
  const row = ({ criterion, decision, reason }: ContinuationEvaluation): string =>
    clipText(`${criterion === resolvedBy ? '▸' : ' '} ${decision.padEnd(8)} ${criterion.padEnd(widest)}  ${reason}`, screen.width - 5);
  for (const evaluation of evaluations)
    screen.line(`    ${evaluation.criterion === resolvedBy ? paint.bold(row(evaluation)) : paint.dim(row(evaluation))}`);
}

const verdict = ({ shouldContinue, stopReason, resolvedBy }: ContinuationOutcome): string =>
  `${shouldContinue ? 'go on' : `stop (${stopReason})`}, by ${resolvedBy}`;

type Result = AgentState['stepResults'][number];

type Step = Result['step'];

function callText(
  { paint }: Screen,
  { toolCalls }: Step,
  { toolCallId, toolName, args, status, durationMs }: Step['executions'][number],
): string {
  const wanted = toolCalls.find(({ id }) => id === toolCallId)?.args ?? args;
  const edited = json(wanted) === json(args) ? '' : `, edited from ${clipText(redactJson(wanted), 60)}`;
  return `${paint.cyan(toolName)} ${clipText(redactJson(args), 60)} → ${status} in ${time(durationMs)}${edited}`;
}

function showStep(screen: Screen, { number, step, outcome, timing, handling }: Result): void {
  const { paint } = screen;
  const facts = [step.stepType, time(timing.activeMs), pluralize(step.usage.total, 'token')].join(' · ');
  screen.line(`\n  ${paint.bold(`Step ${number}`)}  ${paint.dim(facts)}`);
  for (const execution of step.executions) screen.line(`    called   ${callText(screen, step, execution)}`);
  for (const { type, message } of step.errors)
    screen.line(`    failed   ${paint.red(clipText(`${type}: ${redactText(message)}`, screen.width - 14))}`);
  if (handling !== undefined)
    screen.line(`    handled  ${handling.decision}, after ${pluralize(handling.consecutiveFailures, 'failure')} in a row`);
  screen.line(`    decided  ${paint.bold(verdict(outcome))}`);
  showEvaluations(screen, outcome);
}

/** Everything: each step of the last execution, and what every criterion answered after it. */
export function showTrace(screen: Screen, state: AgentState): void {
  const { execution, startOutcome, pendingStep, stepResults, session } = state;
  if (session.executions.length === 0) {
    screen.line('  Nothing has run yet; ask something first.');
    return;
  }
  screen.line(`  ${screen.paint.bold(`Execution ${execution.number}`)}  ${screen.paint.dim(counters(state))}`);
  for (const result of stepResults) showStep(screen, result);
  if (startOutcome !== undefined) {
    screen.line(`\n  ${screen.paint.bold('The start')}  ${verdict(startOutcome)}`);
    showEvaluations(screen, startOutcome);
  }
  if (pendingStep !== undefined) screen.line(`\n  ${screen.paint.bold(`Step ${pendingStep.number}`)}  not ended yet`);
  screen.line();
  showExplanation(screen, state);
}
