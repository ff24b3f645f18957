// Hooks, guards and criteria of the user's own.
import type { Json } from '../../../src/entry/index.ts';
import { AgentState, ContinuationDecision, createAgent, defineHook, stopWhen, when } from '../../../src/entry/index.ts';
import { scriptedModel } from '../../../src/entry/testing.ts';
import type { Fault } from '../fault.ts';
import { forged, leak, poison } from '../poison.ts';
import { call, createTool, say } from '../props.ts';
import { createWorld, runIn, stageAgent, toStaged } from '../world.ts';

const look = createTool('look', () => 'seen');
const lookForEver = () => scriptedModel([call('look')], { repeatLast: true });

export const hookFaults: readonly Fault[] = [
  {
    name: 'an own guard with its reason in words',
    stage: () =>
      stageAgent(() => ({
        model: lookForEver(),
        tools: [look],
        criteria: [stopWhen('TenantFrozen', ({ stepCount }) => stepCount >= 2 && `invoice 4711 is 93 days overdue ${poison}`)],
      })),
    truth: { status: 'stopped', rule: 'TenantFrozen', reason: ['invoice 4711 is 93 days overdue'], step: 2 },
  },
  {
    name: 'an own criterion whose numbers are in its context',
    stage: () =>
      stageAgent(() => ({
        model: lookForEver(),
        tools: [look],
        criteria: [
          when('Quota', ({ stepCount }: AgentState) =>
            stepCount >= 1
              ? {
                  decision: ContinuationDecision.ForbidContinuation,
                  reason: 'the quota is used up',
                  context: { used: 512, allowed: 500, apiKey: leak.apiKey },
                }
              : ContinuationDecision.AllowContinuation,
          ),
        ],
      })),
    truth: { status: 'stopped', rule: 'Quota', reason: ['the quota is used up', '512', '500'], step: 1 },
  },
  {
    name: 'an own criterion that throws',
    stage: () =>
      stageAgent(() => ({
        model: lookForEver(),
        tools: [look],
        criteria: [
          when('Reputation', ({ stepCount }: AgentState) => {
            if (stepCount === 0) return ContinuationDecision.AllowContinuation;
            throw new TypeError(`Cannot read properties of undefined (reading 'score') ${poison}`);
          }),
        ],
      })),
    truth: { status: 'failed', reason: ['Reputation', "Cannot read properties of undefined (reading 'score')"], step: 1 },
  },
  {
    name: 'an own criterion that throws before the first step',
    stage: () =>
      stageAgent(() => ({
        model: lookForEver(),
        tools: [look],
        criteria: [
          when('Reputation', () => {
            throw new Error('no reputation yet');
          }),
        ],
      })),
    truth: { status: 'failed', reason: ['Reputation', 'no reputation yet'] },
  },
  {
    name: 'an own criterion that returns something else',
    stage: () =>
      stageAgent(() => ({
        model: lookForEver(),
        tools: [look],
        // Holds: users of JavaScript write such things.
        criteria: [
          when('Mood', (({ stepCount }: AgentState) => (stepCount === 0 ? ContinuationDecision.AllowContinuation : 'perhaps')) as never),
        ],
      })),
    truth: { status: 'failed', reason: ['Mood', 'perhaps'], step: 1 },
  },
  {
    name: 'a hook that stops the run before a step',
    stage: () =>
      stageAgent(() => ({
        model: lookForEver(),
        tools: [look],
        hooks: [
          defineHook({
            name: 'tenant-budget',
            changes: ['votes'],
            beforeStep: ({ state }) =>
              state.stepCount === 1
                ? {
                    votes: {
                      decision: 'forbid',
                      reason: 'the budget is used up',
                      context: { spent: 250, of: 100, token: 'Zx81kQmT7vPw' },
                    },
                  }
                : undefined,
          }),
        ],
      })),
    truth: {
      status: 'stopped',
      rule: 'tenant-budget',
      reason: ['the budget is used up', '250', '100'],
      step: 2,
      untrue: ['Refused to start'],
    },
  },
  {
    name: 'a hook that stops the run before a call',
    stage: () =>
      stageAgent(() => ({
        model: lookForEver(),
        tools: [look],
        hooks: [
          defineHook({
            name: 'curfew',
            changes: ['votes'],
            beforeTool: ({ call: { name } }) =>
              name === 'look' ? { votes: { decision: 'forbid', reason: `no calls after 22:00${forged}` } } : undefined,
          }),
        ],
      })),
    truth: { status: 'stopped', rule: 'curfew', reason: ['no calls after 22:00'], step: 1, also: ['look'] },
  },
  {
    name: 'a hook that stops the run after the model answered',
    stage: () =>
      stageAgent(() => ({
        model: scriptedModel([say('The password is 12345.')]),
        hooks: [
          defineHook({
            name: 'no-leaks',
            changes: ['votes'],
            afterInference: () => ({ votes: { decision: 'forbid', reason: 'the answer has a password in it', context: { matches: 3 } } }),
          }),
        ],
      })),
    truth: { status: 'stopped', rule: 'no-leaks', reason: ['the answer has a password in it', /\b3\b/], step: 1 },
  },
  {
    name: 'a hook that refuses the start',
    stage: async () => {
      const world = createWorld();
      const officeHours = defineHook({
        name: 'office-hours',
        changes: ['votes'],
        executionStart: ({ state }) =>
          state.metadata['closed'] === true
            ? { votes: { decision: 'forbid', reason: 'the office is closed', context: { opens: '09:00' } } }
            : undefined,
      });
      const agent = createAgent({ model: scriptedModel([say('Never said.')]), hooks: [officeHours], ports: world.ports });
      const closed: Json = true;
      return toStaged(
        world,
        await runIn(world, agent, AgentState.empty(world.ports).withMetadata('closed', closed).withUserMessage('Hello?')),
      );
    },
    truth: { status: 'stopped', rule: 'office-hours', reason: ['the office is closed', '09:00'] },
  },
  {
    name: 'a hook that throws before the start',
    stage: () =>
      stageAgent(() => ({
        model: scriptedModel([say('Never said.')]),
        hooks: [
          defineHook({
            name: 'tenant-budget',
            changes: ['votes'],
            executionStart: () => {
              throw new Error(`the budget service is down ${poison}`);
            },
          }),
        ],
      })),
    truth: { status: 'failed', reason: ['tenant-budget', 'the budget service is down'] },
  },
  {
    name: 'a hook that throws before a step',
    stage: () =>
      stageAgent(() => ({
        model: lookForEver(),
        tools: [look],
        hooks: [
          defineHook({
            name: 'today',
            changes: ['metadata'],
            beforeStep: ({ state }) => {
              if (state.stepCount === 1) throw new Error(`no calendar ${poison}`, { cause: new Error('socket hang up') });
              return undefined;
            },
          }),
        ],
      })),
    truth: { status: 'failed', rule: 'ErrorPolicyCriterion', reason: ['today', 'no calendar', 'socket hang up'], step: 2 },
  },
  {
    name: 'a hook that throws before a call',
    stage: () =>
      stageAgent(() => ({
        model: scriptedModel([call('look')]),
        tools: [look],
        hooks: [
          defineHook({
            name: 'masking',
            changes: ['args'],
            beforeTool: () => {
              throw new Error('no mask for it');
            },
          }),
        ],
      })),
    truth: { status: 'failed', rule: 'ErrorPolicyCriterion', reason: ['masking', 'no mask for it'], step: 1, also: ['look'] },
  },
  {
    name: 'a hook that returns a change which it has not declared',
    stage: () =>
      stageAgent(() => ({
        model: scriptedModel([call('look')]),
        tools: [look],
        hooks: [defineHook({ name: 'sneaky', changes: ['metadata'], beforeStep: (() => ({ tools: ['look'] })) as never })],
      })),
    truth: { status: 'failed', rule: 'ErrorPolicyCriterion', reason: ['sneaky', 'tools'], step: 1 },
  },
  {
    name: 'a hook that never answers',
    stage: () =>
      stageAgent(() => ({
        model: scriptedModel([say('Never said.')]),
        hooks: [
          defineHook({ name: 'sleepy', changes: ['votes'], timeoutMs: 5000, beforeStep: () => new Promise<undefined>(() => undefined) }),
        ],
      })),
    truth: { status: 'failed', rule: 'ErrorPolicyCriterion', reason: ['sleepy', /\b5 s\b|5,?000 ms/], step: 1 },
  },
  {
    name: 'a call that a hook blocked',
    stage: () =>
      stageAgent(() => ({
        model: scriptedModel([
          call({ name: 'look', args: { amount: 250, password: 'correct-horse-battery' } }),
          say('Somebody has to do it.'),
        ]),
        tools: [look],
        hooks: [
          defineHook({
            name: 'small-bills-only',
            changes: ['block'],
            beforeTool: () => ({ block: `bills above 100 are paid by a person${forged}` }),
          }),
        ],
      })),
    truth: {
      status: 'completed',
      rule: 'ToolCallPresenceCheck',
      reason: [/no tool|no call|no work/i],
      step: 2,
      also: ['look', 'small-bills-only', 'bills above 100 are paid by a person', /step 1\b/i],
    },
  },
  {
    name: 'a criterion that asks for more until the limit',
    stage: () =>
      stageAgent(() => ({
        model: scriptedModel([say('Not yet.')], { repeatLast: true }),
        limits: { steps: 3 },
        criteria: [
          when('SaysDone', ({ text }: AgentState) =>
            text.includes('Done')
              ? ContinuationDecision.AllowStop
              : { decision: ContinuationDecision.RequestContinuation, reason: 'the model has not said Done' },
          ),
        ],
      })),
    truth: { status: 'stopped', rule: 'StepsLimit', reason: ['3 of 3'], step: 3, also: ['SaysDone', 'the model has not said Done'] },
  },
];
