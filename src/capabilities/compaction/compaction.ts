// Keeps what a model reads within bounds: the oldest messages leave the window for a buffer, and a full buffer becomes a summary.
// Owns:     the sections `buffer` and `summary` of a conversation.
// Does not: touch messages that stay, or keep anything of its own: all it needs to know stands in the conversation.
// K1. What a model reads is summary, buffer, messages: the conversation in its order, with its beginning replaced by the summary.
// K2. No call is parted from its result, neither by the window nor by the summary.
// K3. A message is either there or in the summary. If no summary could be made, buffer and summary stay as they are.
// K4. The last words of the user are never summarized: they may leave the window, and stay in the buffer as they are. So a run of
//     tools that is longer than the window is folded too, and what it is for is read in the user's own words anyway.
// K5. Between two summaries a prompt only grows at its end: a move to the buffer changes nothing that the model reads.
import type { Failure } from '../../errors/index.ts';
import type { Capability, HookFacts } from '../../hooks/index.ts';
import { defineAnyHook, defineAnyCapability } from '../../hooks/index.ts';
import { abortedFailure } from '../../inference/index.ts';
import { pluralize, present } from '../../lib/index.ts';
import type { MessageStore } from '../../messages/index.ts';
import { SectionName } from '../../messages/index.ts';
import type { RunState } from '../../step-by-step/index.ts';
import type { CompactionOptions, Settings } from './options.ts';
import { toSettings } from './options.ts';
import type { Plan } from './plan.ts';
import { createPlan, countAll, withMoved, withSummary } from './plan.ts';
import { readSummary, createSummaryMessage, createSummaryRequest } from './summarize.ts';

type Facts = HookFacts<RunState, unknown>;
type Change = { readonly conversation: MessageStore } | undefined;

/** Outcome of a compaction. */
interface Outcome {
  readonly store: MessageStore;
  readonly moved: Plan['moved'];
  readonly summarized: number;
  /** Remarks beside the numbers. */
  readonly remarks: readonly string[];
  readonly failure?: Failure;
}

/** Reports the outcome, and returns the change. */
function reportChange(facts: Facts, done: Outcome, settings: Settings): Change {
  const { store, moved, summarized, remarks, failure } = done;
  const countTokens = (section: string): number => countAll(store.section(section), settings);
  const words = [
    ...(moved.length > 0 ? [`${pluralize(moved.length, 'message')} moved to the buffer`] : []),
    ...(summarized > 0 ? [`${pluralize(summarized, 'message')} folded into the summary`] : []),
    ...remarks,
  ];
  facts.report(
    words.join('; '),
    present({
      moved: moved.length,
      movedTokens: countAll(moved, settings),
      keptTokens: countTokens(SectionName.Messages),
      summarized,
      bufferTokens: countTokens(SectionName.Buffer),
      summaryTokens: countTokens(SectionName.Summary),
      failure: failure && { type: failure.type, code: failure.code, message: failure.message },
    }),
  );
  return store === facts.state.store ? undefined : { conversation: store };
}

/** Describes a window that is still too large. */
function describeExcess({ kept }: Plan, settings: Settings): readonly string[] {
  const { maxTokens } = settings;
  const tokens = countAll(kept, settings);
  return tokens <= maxTokens
    ? []
    : [`the newest message and what belongs to it stay, although they are larger than the window: ${tokens} of ${maxTokens} tokens`];
}

async function summarize(facts: Facts, plan: Plan, settings: Settings): Promise<Change> {
  const { ask, ids, signal, state } = facts;
  const { model, maxSummaryTokens, instructions } = settings;
  const summary = state.store.section(SectionName.Summary).toArray();
  const request = createSummaryRequest({ summary, messages: plan.folded, maxSummaryTokens, instructions });
  const answer = readSummary(await ask(model, request));
  // A run that was cut off takes no change any more: what would have moved has not.
  if (signal.aborted) {
    const failure = answer.ok ? abortedFailure : answer.failure;
    const remarks = ['the run was interrupted before the summary was there, and nothing has changed'];
    return reportChange(facts, { store: state.store, moved: [], summarized: 0, remarks, failure }, settings);
  }
  const { moved } = plan;
  const store = withMoved(state.store, plan);
  if (!answer.ok) {
    const remarks = [
      `no summary could be made, and the buffer stays as it is: ${answer.failure.message}`,
      ...describeExcess(plan, settings),
    ];
    return reportChange(facts, { store, moved, summarized: 0, remarks, failure: answer.failure }, settings);
  }
  const folded = withSummary(store, plan, createSummaryMessage(answer.text, ids));
  const remarks = [...(answer.cutShort ? ['the summary was cut short at its limit'] : []), ...describeExcess(plan, settings)];
  return reportChange(facts, { store: folded, moved, summarized: plan.folded.length, remarks }, settings);
}

/** Compacts a conversation; synchronous if no summary is needed. */
function compact(facts: Facts, settings: Settings): Change | Promise<Change> {
  const plan = createPlan(facts.state.store, settings);
  if (plan === undefined) return undefined;
  if (plan.folded.length > 0) return summarize(facts, plan, settings);
  const store = withMoved(facts.state.store, plan);
  return reportChange(facts, { store, moved: plan.moved, summarized: 0, remarks: describeExcess(plan, settings) }, settings);
}

/**
 * Keeps long conversations within bounds. Before a step, the oldest messages of a conversation that has outgrown its window move to
 * a buffer, which the model still reads; a buffer that has outgrown its own bounds is folded into a summary by a model. If that
 * fails, nothing is lost and the run continues. Each folding emits an event HookReported.
 */
export function compaction(options: CompactionOptions): Capability<readonly [], RunState, unknown> {
  const settings = toSettings(options);
  return defineAnyCapability({
    name: 'compaction',
    description: 'Moves the oldest messages to a buffer, and folds a full buffer into a summary.',
    hooks: [
      defineAnyHook({
        name: 'compaction',
        changes: ['conversation'],
        // A summary may take as long as the run has: its own limits end it.
        timeoutMs: Infinity,
        beforeStep: (facts) => compact(facts, settings),
      }),
    ],
  });
}
