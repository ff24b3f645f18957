import type { ContinuationEvaluation, ContinuationOutcome } from '../../continuation/index.ts';
import { omitUndefined } from '../../lib/index.ts';
import type { Session } from '../../sessions/index.ts';
import type { CommandContext } from '../command-context.ts';
import { ExitCode } from '../exit-code.ts';
import { toExitCode } from '../failures.ts';
import { renderText } from '../render/page.ts';
import type { StyleName } from '../render/style.ts';
import type { Column } from '../render/table.ts';
import { renderTable } from '../render/table.ts';
import { toJsonText, toLine } from '../render/text.ts';

export interface WhyOptions {
  /** Shows all evaluations of every step. */
  readonly trace?: boolean;
}

/** An outcome with its place in the session. */
interface Judgement {
  readonly execution: number;
  /** 0 for a start that was judged. */
  readonly step: number;
  readonly outcome: ContinuationOutcome;
}

/** Lists every judgement of a session, in their order. */
function listJudgements({ state }: Session): readonly Judgement[] {
  return state.session.executions.flatMap(({ number: execution, startOutcome, results }) => [
    ...results.toArray().map(({ number: step, outcome }) => ({ execution, step, outcome })),
    ...(startOutcome === undefined ? [] : [{ execution, step: 0, outcome: startOutcome }]),
  ]);
}

/** One evaluation in the table of a trace. */
interface TraceRow {
  readonly place: string;
  readonly evaluation: ContinuationEvaluation;
  /** True for the evaluation that decided. */
  readonly isDeciding: boolean;
}

function toRows(judgements: readonly Judgement[]): readonly TraceRow[] {
  const hasSeveral = judgements.some(({ execution }) => execution !== judgements[0]?.execution);
  return judgements.flatMap(({ execution, step, outcome }) => {
    const deciding = outcome.evaluations.find(
      ({ criterion, decision }) => criterion === outcome.resolvedBy && decision === outcome.decision,
    );
    const place = step === 0 ? 'start' : String(step);
    return outcome.evaluations.map((evaluation, index) => ({
      place: index > 0 ? '' : hasSeveral ? `${execution}.${place}` : place,
      evaluation,
      isDeciding: evaluation === deciding,
    }));
  });
}

const toNumbers = ({ context }: ContinuationEvaluation): string =>
  Object.entries(context)
    .flatMap(([name, value]) => (typeof value === 'number' ? [`${name}=${Number(value.toFixed(3))}`] : []))
    .join(' ');

const colours: Readonly<Record<string, StyleName>> = { forbid: 'red', request: 'cyan', stop: 'green' };

/** Width from which the numbers have a column of their own. */
const wideTrace = 110;

function createColumns({ redactor, page }: CommandContext['output']): readonly Column<TraceRow>[] {
  const style = ({ isDeciding }: TraceRow): StyleName | undefined => (isDeciding ? 'bold' : undefined);
  const getReason = ({ evaluation }: TraceRow): string => redactor.text(evaluation.reason);
  const getNumbers = ({ evaluation }: TraceRow): string => toNumbers(evaluation);
  const getBoth = (row: TraceRow): string => (getNumbers(row) === '' ? getReason(row) : `${getReason(row)} (${getNumbers(row)})`);
  const isWide = page.width === undefined || page.width >= wideTrace;
  const details: readonly Column<TraceRow>[] = isWide
    ? [
        { title: 'NUMBERS', value: getNumbers, fit: 'wrap' },
        { title: 'REASON', value: getReason, fit: 'wrap' },
      ]
    : [{ title: 'REASON', value: getBoth, fit: 'wrap' }];
  return [
    { title: 'STEP', value: ({ place }) => place, align: 'right' },
    { title: '', value: ({ isDeciding }) => (isDeciding ? '*' : ''), style },
    { title: 'CRITERION', value: ({ evaluation }) => evaluation.criterion, style, fit: 'wrap' },
    { title: 'DECISION', value: ({ evaluation }) => evaluation.decision, style: ({ evaluation }) => colours[evaluation.decision] },
    { title: 'STOP REASON', value: ({ evaluation }) => evaluation.stopReason ?? '' },
    ...details,
  ];
}

function toJson(session: Session, { trace = false }: WhyOptions, { redactor }: CommandContext['output']): object {
  const { id: sessionId, status, stopReason, state } = session;
  const judgements = listJudgements(session);
  const last = judgements.at(-1);
  return omitUndefined({
    sessionId,
    status,
    stopReason,
    execution: state.execution.number,
    step: last?.step,
    resolvedBy: stopReason === undefined ? undefined : last?.outcome.resolvedBy,
    waitingFor: session.waitingFor.length > 0 ? session.waitingFor.map(({ type, id }) => ({ type, id })) : undefined,
    explanation: redactor.text(session.explain()),
    trace: trace
      ? judgements.map(({ execution, step, outcome }) => ({ execution, step, outcome: redactor.value(outcome.toJSON()) }))
      : undefined,
  });
}

function print(
  session: Session,
  options: WhyOptions,
  { output, hasTitle }: { readonly output: CommandContext['output']; readonly hasTitle: boolean },
): void {
  const { page, redactor } = output;
  if (output.isJson) {
    output.print(toJsonText(toJson(session, options, output)));
    return;
  }
  if (hasTitle) output.print(page.style('bold', toLine(session.id)));
  output.print(renderText(page, redactor.text(session.explain())));
  if (options.trace === true) {
    const rows = toRows(listJudgements(session));
    output.print(
      rows.length === 0
        ? '\nNothing was judged yet.'
        : `\n${renderTable(rows, createColumns(output), page)}\n\n${page.style('dim', '* decided')}`,
    );
  }
  if (hasTitle) output.print('');
}

/** Explains why sessions stopped or wait. Continues after a session that cannot be read; the exit code is that of the first such. */
export async function why(context: CommandContext, sessionIds: readonly string[], options: WhyOptions = {}): Promise<ExitCode> {
  const { runtime, output } = context;
  if (sessionIds.length === 1) {
    print(await runtime.get(sessionIds[0] ?? ''), options, { output, hasTitle: false });
    return ExitCode.Ok;
  }
  let exitCode: ExitCode = ExitCode.Ok;
  for (const id of sessionIds) {
    try {
      print(await runtime.get(id), options, { output, hasTitle: true });
    } catch (error) {
      if (exitCode === ExitCode.Ok) exitCode = toExitCode(error);
      output.fail(error);
    }
  }
  return exitCode;
}
