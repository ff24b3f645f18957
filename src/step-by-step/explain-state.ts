import type { ContinuationOutcome, ExplainOptions, LimitKind } from '../continuation/index.ts';
import type { CoolDowns } from '../inference/index.ts';
import { listCoolingDown } from '../inference/index.ts';
import { assertNever, defaultRedactor, pluralize } from '../lib/index.ts';
import type { CrashLoop, Execution, ExecutionStatus } from './execution.ts';
import { isFinishedAtLimit } from './execution.ts';
import type { Interruption, Step } from './step.ts';
import type { StepResult } from './step-result.ts';
import type { PendingStep, Wait } from './waiting.ts';

/** Parts of a state that an explanation uses. */
interface Explainable {
  readonly status: ExecutionStatus;
  readonly stepCount: number;
  readonly lastStepResult: StepResult | undefined;
  readonly startOutcome: ContinuationOutcome | undefined;
  readonly waitingFor: readonly Wait[];
  readonly pendingStep: PendingStep | undefined;
  readonly coolDowns: CoolDowns;
  readonly info: { readonly updatedAt: number };
  readonly execution: Pick<Execution, 'grantRefused' | 'regranted' | 'crashLoop'>;
}

const grantText: Readonly<Record<LimitKind, string>> = {
  steps: 'steps',
  tokens: 'tokens',
  wall: 'time on the wall clock',
  active: 'active time',
  cost: 'money',
};

/** Level of detail. */
export interface ExplainStateOptions {
  /** Leaves out criteria that had nothing to report. @default false */
  readonly brief?: boolean;
}

const toIso = (time: number): string => new Date(time).toISOString();

function waitText(wait: Wait, turn?: string): string {
  const who = wait.agent === undefined || wait.agent === turn ? '' : ` for ${wait.agent}`;
  const problem =
    wait.problem === undefined ? '' : `, after an answer that could not be used: ${defaultRedactor.text(wait.problem).replace(/\.$/, '')}`;
  switch (wait.type) {
    case 'approval':
      return `approval of ${wait.toolName} (${wait.id})${who}${problem}`;
    case 'client-tool':
      return `the output of ${wait.toolName} (${wait.id})${who}${problem}`;
    case 'unknown-call':
      return `the true result of ${wait.toolName} (${wait.id})${who}, which was cut off${problem}`;
    case 'person':
      if (wait.reason === 'crash-loop') return 'a person';
      return `${wait.participant === undefined ? "a person's words" : `the words of ${wait.participant}`} (${wait.id})${who}${problem}`;
    case 'provider':
      return `the provider, which is down since ${toIso(wait.since)} (${defaultRedactor.text(wait.reason).replace(/\.$/, '')}): the next try is at ${toIso(wait.nextTryAt)}, the last one at ${toIso(wait.giveUpAt)}`;
    case 'grant':
      return `more ${grantText[wait.limit]}${problem}`;
    default:
      return assertNever(wait);
  }
}

const interruptionText: Readonly<Record<Interruption, string>> = {
  signal: 'The step was cut off by the signal.',
  request: 'The step was not begun: somebody had asked to stop.',
  deadline: 'The step was cut off at the time limit.',
  superseded: 'The step was given up for a new message.',
  vote: 'What was left of the step was not begun: a vote had forbidden to go on.',
};

const asSentence = (text: string): string => (/[.!?]$/.test(text) ? text : `${text}.`);

function stepLines({ errors, interrupted, finalizing, outputMessages }: Step): readonly string[] {
  // The outcome already quotes an error thrown by a criterion.
  const failures = errors.filter(({ code }) => code !== 'criterion-failed');
  const lines = failures.map(({ type, code, message, toolName }) => {
    const tool = toolName === undefined ? '' : ` in ${toolName}`;
    const kind = type === 'unknown' ? 'error' : `${type} error`;
    return asSentence(`Failed: ${kind}${tool} (${code}): ${defaultRedactor.text(message)}`);
  });
  const summary = finalizing === true ? ['The last step was taken to sum up.'] : [];
  const wasCutShort = interrupted === 'request' && outputMessages.length > 0;
  const cut = wasCutShort
    ? ['The step was cut short: somebody had asked to stop.']
    : interrupted === undefined
      ? []
      : [interruptionText[interrupted]];
  return [...summary, ...lines, ...cut];
}

// A reason may quote a thrown error or a person's words.
const outcomeText = (outcome: ContinuationOutcome, options: ExplainOptions): string => defaultRedactor.text(outcome.explain(options));

// The execution was ended while it waited for a grant: this is not a refused start.
const isCancelled = ({ resolvedBy }: ContinuationOutcome): boolean => resolvedBy === 'StopRequested';

function stoppedText({ lastStepResult, startOutcome, stepCount }: Explainable, brief: boolean): string {
  if (startOutcome !== undefined) return outcomeText(startOutcome, { stepNumber: isCancelled(startOutcome) ? stepCount : 0, brief });
  if (lastStepResult === undefined) return 'Started; no step has ended yet.';
  const { outcome, step, number } = lastStepResult;
  const [headline = '', ...votes] = outcomeText(outcome, { stepNumber: number, finished: isFinishedAtLimit(outcome, step), brief }).split(
    '\n',
  );
  return [headline, ...stepLines(step), ...votes].join('\n');
}

/** Explains a step that ended the process each time it was resumed. */
function explainCrashLoop({ stepCount }: Explainable, { attempts, since }: CrashLoop): string {
  const times = attempts === 1 ? 'once, and the process ended' : `${attempts} times, and the process ended each time`;
  const what = attempts === 0 ? 'the process ended while it was open' : `it was resumed ${times}`;
  return `Waiting in step ${stepCount + 1} for a person since ${new Date(since).toISOString()}: ${what}. Resume the session to try again, or cancel it.`;
}

/** Lists the models that were skipped at the last change of the state. */
function describeCoolDowns({ coolDowns, info }: Explainable): readonly string[] {
  return listCoolingDown(coolDowns, info.updatedAt).map((name) => {
    const { failures, until } = coolDowns[name] ?? { failures: 0, until: 0 };
    const failed = failures === 1 ? 'it failed' : `it failed ${pluralize(failures, 'time')} in a row`;
    return `Model ${name} is skipped until ${toIso(until)}: ${failed} and another model answered.`;
  });
}

/** Explains the status of a state and the reasons for it. */
export function explainState(state: Explainable, options: ExplainStateOptions): string {
  return [explainStatus(state, options), ...describeCoolDowns(state)].join('\n');
}

function explainStatus(state: Explainable, { brief = false }: ExplainStateOptions): string {
  const { crashLoop } = state.execution;
  if (crashLoop !== undefined) return explainCrashLoop(state, crashLoop);
  if (state.status === 'pending') return 'Not started: no run has begun since the last input.';
  if (state.waitingFor.length > 0 && state.pendingStep === undefined) {
    const waits = `Waiting after step ${state.stepCount} for ${state.waitingFor.map((wait) => waitText(wait)).join('; ')}.`;
    return `${waits}\n${stoppedText(state, brief).split('\n').slice(1).join('\n')}`;
  }
  if (state.waitingFor.length > 0) {
    const who = state.pendingStep?.partial.participant;
    return `Waiting in step ${state.stepCount + 1}${who === undefined ? '' : `, the turn of ${who},`} for ${state.waitingFor.map((wait) => waitText(wait, who)).join('; ')}.`;
  }
  if (state.pendingStep !== undefined) return `Ready to go on with step ${state.pendingStep.number}: all that it waited for was answered.`;
  if (state.execution.regranted === true) return `Ready to go on after step ${state.stepCount}: more was granted.`;
  const refused = state.execution.grantRefused;
  return refused === undefined
    ? stoppedText(state, brief)
    : `${stoppedText(state, brief)}\nNothing more was granted: ${asSentence(defaultRedactor.text(refused))}`;
}
