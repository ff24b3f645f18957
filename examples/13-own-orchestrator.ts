// An orchestrator of your own on the loop: a model, two tools, an approval, a pause to JSON. The model is scripted.
import type { ToolCall } from 'stepline';
import { defineContext, ContinuationCriteria, defineTool, ErrorPolicy, Message, ToolCallPresenceCheck, Usage } from 'stepline';
import { findPendingToolCalls } from 'stepline/inference';
import type { Codec, PendingStep, ProducedStep, Step, StepProcess, StepScope } from 'stepline/step-by-step';
import type { Wait } from 'stepline';
import { createStateCodec, createStepByStep, RunState, standardCriteria } from 'stepline/step-by-step';
import { scriptedModel } from 'stepline/testing';
import type { PreparedCall, ToolExecution } from 'stepline/tools';
import { prepareCall, toRejectedExecution, runCall, toSupersededExecution, toToolMessages, ToolSet } from 'stepline/tools';

const print = (line: string): void => {
  process.stdout.write(`${line}\n`);
};

interface Desk {
  readonly refunded: string[];
}

const findOrder = defineTool({
  name: 'find_order',
  description: 'Finds an order by its number.',
  input: { type: 'object', properties: { order: { type: 'string' } }, required: ['order'] } as const,
  effect: 'pure',
  run: ({ order }) => ({ order, amount: 40 }),
});
const refund = defineTool({
  name: 'refund',
  description: 'Pays an order back.',
  context: defineContext<Desk>(),
  input: { type: 'object', properties: { order: { type: 'string' } }, required: ['order'] } as const,
  needsApproval: true,
  run: ({ order }, { context }) => {
    context.refunded.push(order);
    return { refunded: order };
  },
});
const tools = ToolSet.from([findOrder, refund]);

const model = scriptedModel([
  { toolCalls: [{ id: 'call-1', name: 'find_order', args: { order: 'A7' } }], usage: { input: 90, output: 12 } },
  { toolCalls: [{ id: 'call-2', name: 'refund', args: { order: 'A7' } }], usage: { input: 120, output: 12 } },
  { text: 'Order A7 is paid back.', usage: { input: 150, output: 8 } },
]);

class DeskState extends RunState {
  static empty(): DeskState {
    return new DeskState(RunState.emptyData());
  }
  static readonly codec: Codec<DeskState> = createStateCodec<DeskState, Step>({
    kind: 'desk-state',
    step: { encode: () => ({}), decode: (step) => step },
    build: (data) => new DeskState(data),
  });
  toJSON(): unknown {
    return DeskState.codec.encode(this);
  }
  // A call that nobody will answer any more still gets its result.
  override closePendingStep({ partial, waits, parkedAt }: PendingStep): Step {
    const closed = waits.flatMap((wait) =>
      wait.type === 'approval'
        ? [toSupersededExecution({ id: wait.id, name: wait.toolName, args: wait.args }, { startedAt: parkedAt })]
        : [],
    );
    return { ...partial, outputMessages: [...partial.outputMessages, ...toToolMessages(closed)] };
  }
}

function withResults(step: Step, executions: readonly ToolExecution[]): Step {
  const errors = executions.flatMap((execution) => (execution.status === 'failed' ? [execution.failure] : []));
  return { ...step, outputMessages: [...step.outputMessages, ...toToolMessages(executions)], errors: [...step.errors, ...errors] };
}

function settle(step: Step, outcomes: readonly PreparedCall[]): ProducedStep<Step> {
  const done = withResults(
    step,
    outcomes.flatMap((outcome) => (outcome.type === 'ended' ? [outcome.execution] : [])),
  );
  const waits = outcomes.flatMap((outcome): Wait[] =>
    outcome.type === 'needs-approval'
      ? [{ type: 'approval', id: outcome.call.id, toolName: outcome.call.name, args: outcome.call.args }]
      : [],
  );
  return waits.length === 0 ? { type: 'step', step: done } : { type: 'waiting', partial: done, waits };
}

/** Runs the calls that may run; one that needs approval is returned as it is. */
function runCalls(calls: readonly ToolCall[], scope: StepScope<Desk>, approved = false): Promise<readonly PreparedCall[]> {
  const { context, control, effects, stepNumber, executionId } = scope;
  const place = `${executionId}/${String(stepNumber)}`;
  const runOne = async (call: ToolCall, index: number): Promise<PreparedCall> => {
    const prepared = await prepareCall(tools, call, { context, signal: control.signal, approved });
    if (prepared.type !== 'ready') return prepared;
    const options = { effects, context, key: `tool/${String(stepNumber)}/${String(index)}`, idempotencyKey: `${place}/${call.id}` };
    return { type: 'ended', call, execution: await runCall(prepared, options) };
  };
  return Promise.all(calls.map(runOne));
}

async function goOn({ partial, waits, answers }: PendingStep, scope: StepScope<Desk>): Promise<ProducedStep<Step>> {
  const rejected: ToolExecution[] = [];
  const approved = waits.flatMap((wait) => {
    const answer = answers.find(({ id }) => id === wait.id);
    if (wait.type !== 'approval' || answer === undefined) return [];
    const call = { id: wait.id, name: wait.toolName, args: wait.args };
    if (answer.type === 'rejected') rejected.push(toRejectedExecution(call, answer.reason, { startedAt: scope.time.clock.now() }));
    return answer.type === 'approved' ? [call] : [];
  });
  return settle(withResults(partial, rejected), await runCalls(approved, scope, true));
}

const desk: StepProcess<DeskState, Desk> = {
  name: 'desk',
  criteria: ContinuationCriteria.from<DeskState>(
    ...standardCriteria({ policy: ErrorPolicy.retryToolErrors(3) }),
    new ToolCallPresenceCheck((state) => state.currentStep?.hasToolCalls === true),
  ),
  produce: async (state, scope) => {
    if (state.pendingStep !== undefined) return goOn(state.pendingStep, scope);
    const request = { messages: state.messagesForInference.toArray(), tools: tools.schemas(), signal: scope.control.signal };
    const answered = await scope.effects.run(`model/${String(scope.stepNumber)}`, () => model.generate(request), {
      effect: 'pure',
      failsAs: 'model',
    });
    const failure = answered.ok ? (answered.value.ok ? undefined : answered.value.failure) : answered;
    const response = answered.ok ? (answered.value.ok ? answered.value.response : answered.value.partial) : undefined;
    const calls = failure === undefined && response !== undefined ? findPendingToolCalls(response) : [];
    const step: Step = {
      id: scope.ids(),
      outputMessages: response === undefined || response.parts.length === 0 ? [] : [Message.assistant(response.parts)],
      usage: response?.usage ?? Usage.none(),
      errors: failure === undefined ? [] : [failure],
      hasToolCalls: calls.length > 0,
      ...(response?.finishReason !== undefined && { finishReason: response.finishReason }),
    };
    return settle(step, await runCalls(calls, scope));
  },
  emptyStep: (facts) => ({ ...facts, outputMessages: [], usage: Usage.none() }),
};

const context: Desk = { refunded: [] };
const orchestrator = createStepByStep(desk);
const waiting = await orchestrator.run(DeskState.empty().withUserMessage('Please pay back order A7.'), { context });
print(waiting.explain());

const restored = DeskState.codec.decode(JSON.parse(JSON.stringify(waiting)));
print(
  `Stored and read again: ${String(restored.stepCount)} step recorded, ${String(restored.usage.total)} tokens used, refunded: ${JSON.stringify(context.refunded)}`,
);

const done = await orchestrator.run(restored.approve('call-2'), { context });
print(`\n${done.explain()}`);
print(`It said: ${done.text} Refunded: ${JSON.stringify(context.refunded)}`);
