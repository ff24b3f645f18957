import { describe, expect, it } from 'vitest';
import { getRelatedFields, indexRelated, listRelatedNames } from './related-fields.ts';

const step = { agentId: 'a', executionId: 'x', stepNumber: 1 };
const evaluation = { criterion: 'StepsLimit', decision: 'forbid', reason: '2 of 2 steps used', context: { max: 2 } };
const decision = { shouldContinue: false, stopReason: 'steps_limit', resolvedBy: 'StepsLimit' };
const asked = { ...step, type: 'InferenceStarted', tools: ['look'] };
const judged = {
  ...step,
  type: 'ContinuationEvaluated',
  ...decision,
  outcome: { decision: 'forbid', ...decision, evaluations: [evaluation] },
};
const related = indexRelated([asked, judged]);
const reason = { reason: '2 of 2 steps used', context: { max: 2 } };

describe('fields that repeat another event of the commit', () => {
  it.each([
    ['AgentStepStarted', {}, { tools: ['look'] }],
    ['AgentStepCompleted', {}, decision],
    ['AgentFinished', { stopReason: 'steps_limit' }, reason],
    ['AgentFailed', { stopReason: 'error' }, reason],
    ['AgentFinished', {}, {}],
    ['ToolCallStarted', {}, {}],
  ])('of %s %j are put back when it is read, and are not written', (type, own, expected) => {
    const event = { ...step, type, ...own };
    expect(getRelatedFields(event, related)).toStrictEqual(expected);
    expect(listRelatedNames({ ...event, ...expected }, related)).toStrictEqual(Object.keys(expected));
  });

  it('are written if they differ', () => {
    expect(listRelatedNames({ ...step, type: 'AgentStepStarted', tools: ['look', 'pay'] }, related)).toStrictEqual([]);
  });

  it('are those of the same agent and step only', () => {
    expect(getRelatedFields({ ...step, stepNumber: 2, type: 'AgentStepStarted' }, related)).toStrictEqual({});
    expect(getRelatedFields({ ...step, agentId: 'b', type: 'AgentStepCompleted' }, related)).toStrictEqual({});
  });
});
