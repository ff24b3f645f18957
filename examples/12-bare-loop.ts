// The bare loop on a script: no agent, no model. Prints every decision as it is made, and why the run ended.
import { ErrorPolicy, RateLimitedError, ToolFailedError } from 'stepline';
import type { LoopEvent } from 'stepline/step-by-step';
import { createStepByStep } from 'stepline/step-by-step';
import type { ScriptedStep } from 'stepline/testing';
import { createScriptedProcess, ScriptedState } from 'stepline/testing';

const print = (line = ''): void => {
  process.stdout.write(`${line}\n`);
};

const script: readonly ScriptedStep[] = [
  { text: 'I look for Acme.', hasToolCalls: true, usage: { input: 310, output: 24 } },
  { throws: new RateLimitedError('429: slow down', { retryAfterMs: 120 }) },
  { throws: new ToolFailedError('search_entities: the index is being rebuilt') },
  { text: 'Found Acme in Berlin; I create the lead.', hasToolCalls: true, usage: { input: 420, output: 31 } },
  { text: 'Done: Acme is now a lead.', usage: { input: 480, output: 12 } },
];

function show(event: LoopEvent): void {
  if (event.type === 'AgentStepStarted') print(`\nStep ${String(event.stepNumber)}`);
  if (event.type === 'AgentStepCompleted') for (const message of event.errorMessages) print(`  failed   ${message}`);
  if (event.type === 'RetryScheduled') print(`  waits    ${String(event.delayMs)} ms, as the provider asked`);
  if (event.type !== 'ContinuationEvaluated') return;
  const { shouldContinue, resolvedBy, stopReason } = event.outcome;
  print(`  decision ${shouldContinue ? 'go on' : `stop (${stopReason})`}, by ${resolvedBy}`);
  for (const { criterion, decision, reason } of event.outcome.evaluations) print(`    ${decision.padEnd(8)}${criterion}: ${reason}`);
}

print('This run is a script, so that you can see the decisions without a model.');
const patient = createStepByStep(createScriptedProcess(script, { policy: ErrorPolicy.retryToolErrors(3) }));
const done = await patient.run(ScriptedState.empty().withUserMessage('Make Acme a lead.'), { onEvent: show });
print(`\n${done.explain()}`);
print(`It said: ${done.text}`);

print('\nThe same script under the default policy, which stops on any error:');
const strict = createStepByStep(createScriptedProcess(script));
const stopped = await strict.run(ScriptedState.empty().withUserMessage('Make Acme a lead.'));
print(stopped.explain());

print('\nAnd with two steps allowed, stored after the first one and taken up again from its JSON:');
const short = createStepByStep(createScriptedProcess(script, { limits: { steps: 2 }, policy: ErrorPolicy.retryToolErrors(3) }));
const first = await short.nextStep(ScriptedState.empty().withUserMessage('Make Acme a lead.'));
const resumed = await short.run(ScriptedState.fromJSON(JSON.parse(JSON.stringify(first))));
print(resumed.explain());
