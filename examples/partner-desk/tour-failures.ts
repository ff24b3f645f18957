// A tool that always fails, under the four presets of ErrorPolicy.
import { ErrorPolicy } from 'stepline';
import type { AgentState } from 'stepline';
import { createBrokenDirectory } from './partners.ts';
import type { Screen } from './screen.ts';
import { label, margin } from './screen.ts';
import type { Scene } from './tour-guide.ts';
import { deskWith } from './tour-guide.ts';
import { showWhy } from './why.ts';

const presets: readonly (readonly [name: string, policy: ErrorPolicy])[] = [
  ['ErrorPolicy.stopOnAnyError()', ErrorPolicy.stopOnAnyError()],
  ['ErrorPolicy.retryToolErrors(3)', ErrorPolicy.retryToolErrors(3)],
  ['ErrorPolicy.retryAll(5)', ErrorPolicy.retryAll(5)],
  ['ErrorPolicy.ignoreToolErrors()', ErrorPolicy.ignoreToolErrors()],
];

/** One line for each step that failed: what the policy made of it. */
function showFailures(screen: Screen, { stepResults }: AgentState): void {
  for (const { number, step, outcome } of stepResults) {
    const reason = outcome.getEvaluationFor('ErrorPolicyCriterion')?.reason ?? '';
    if (step.errors.length > 0)
      screen.line(
        `${margin}step ${number}  ${screen.paint.red('failed')}  ${outcome.shouldContinue ? 'go on' : 'stop '}  ${screen.paint.dim(reason)}`,
      );
  }
}

export const failingTool: Scene = async ({ screen, note, code }) => {
  note('The search fails whenever it is called. One question, four policies; the script itself gives up after five tries.');
  for (const [name, errors] of presets) {
    code(name);
    const desk = await deskWith({ errors });
    const { state, text, status } = await desk.start('Find Acme', { context: { directory: createBrokenDirectory() } }).result;
    showFailures(screen, state);
    if (status === 'completed') screen.line(`${label(screen, 'desk')}${text}`);
    showWhy(screen, state);
  }
};
