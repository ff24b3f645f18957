// Random collaborations: whatever is contributed, the board is the fold of the changes, and all of it can be stored at every turn.
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { pickRuns } from '../../tests/support/test-scale.ts';
import { ContinuationDecision, when } from '../continuation/index.ts';
import { ErrorPolicy } from '../errors/index.ts';
import { createCountingIds, createFakeClock } from '../lib/index.ts';
import type { Artifact, Contribution } from './index.ts';
import { CollaborationState, createCollaboration, functionCollaborator } from './index.ts';

const names = ['ann', 'bob', 'cat'] as const;
const approvers: readonly string[] = ['ann', 'bob'];
const artifacts = ['draft', 'plan', '__proto__'] as const;

interface Turn {
  readonly type: 'turn';
  readonly who: string;
  readonly writes: readonly (readonly [string, string])[];
  readonly approves: readonly string[];
  readonly handoff: string | undefined;
  readonly fails: boolean;
}
type Move = Turn | { readonly type: 'input' } | { readonly type: 'outside'; readonly artifact: string; readonly content: string };

const artifact = fc.constantFrom(...artifacts);
const turn: fc.Arbitrary<Turn> = fc.record({
  type: fc.constant('turn' as const),
  who: fc.constantFrom(...names),
  writes: fc.array(fc.tuple(artifact, fc.string({ maxLength: 5 })), { maxLength: 2 }),
  approves: fc.array(artifact, { maxLength: 3 }),
  handoff: fc.option(fc.constantFrom(...names), { nil: undefined, freq: 4 }),
  fails: fc.constantFrom(true, false, false, false, false),
});
const move: fc.Arbitrary<Move> = fc.oneof(
  { weight: 8, arbitrary: turn },
  { weight: 1, arbitrary: fc.constant({ type: 'input' as const }) },
  { weight: 1, arbitrary: fc.record({ type: fc.constant('outside' as const), artifact, content: fc.string({ maxLength: 5 }) }) },
);

/** Returns the allowed part of the move for this state of the board. */
function toContribution({ writes, approves, handoff }: Turn, who: string, there: readonly string[]): Contribution {
  const all: Readonly<Record<string, string>> = Object.fromEntries(writes);
  const known = [...there, ...Object.keys(all)];
  return {
    text: 'x',
    writes: all,
    ...(approvers.includes(who) && { approves: approves.filter((name) => known.includes(name)) }),
    ...(handoff !== undefined && handoff !== who && { handoff: { to: handoff, reason: 'go' } }),
  };
}

/** Returns the expected board and approvals. */
class Expected {
  readonly versions = new Map<string, { version: number; content: string; author?: string }[]>();
  approvals: { by: string; artifact: string; version: number }[] = [];

  write(name: string, content: string, author?: string): void {
    const before = this.versions.get(name) ?? [];
    this.versions.set(name, [...before, { version: before.length + 1, content, ...(author !== undefined && { author }) }]);
  }
  take(who: string, { writes = {}, approves = [] }: Contribution): void {
    for (const [name, content] of Object.entries(writes)) this.write(name, content, who);
    for (const name of approves) this.approvals.push({ by: who, artifact: name, version: this.versions.get(name)?.length ?? 0 });
  }
  get holding(): readonly unknown[] {
    return this.approvals.filter(({ artifact: name, version }) => this.versions.get(name)?.length === version);
  }
  get artifacts(): readonly Artifact[] {
    return [...this.versions].flatMap(([name, versions]) => {
      const last = versions.at(-1);
      return last === undefined ? [] : [{ name, ...last, versions }];
    });
  }
  get isDone(): boolean {
    const isApproved = (by: string, name: string, version: number): boolean =>
      this.approvals.some((each) => each.by === by && each.artifact === name && each.version === version);
    return (
      this.versions.size > 0 && [...this.versions].every(([name, { length }]) => approvers.every((by) => isApproved(by, name, length)))
    );
  }
}

/** Plays moves on a collaboration; the move of each turn is found by the number of turns so far. */
function stage(turns: readonly Turn[], { goesOn }: { readonly goesOn: boolean }) {
  const [clock, ids] = [createFakeClock(), createCountingIds()];
  const moveAt = (state: CollaborationState): Turn | undefined => turns[state.session.stepCount];
  const collaborators = names.map((name) =>
    functionCollaborator({
      name,
      speak: ({ state }) => {
        const now = moveAt(state);
        if (now === undefined || now.fails) throw new Error('not now');
        return toContribution(now, name, state.board.names);
      },
    }),
  );
  const collaboration = createCollaboration({
    collaborators,
    done: { approvedBy: approvers },
    selector: ({ state }) => moveAt(state)?.who ?? 'ann',
    errors: ErrorPolicy.retryAll(1000).withBackoff({ baseMs: 0 }),
    ...(goesOn
      ? { criteria: [when<CollaborationState>('GoOn', () => ContinuationDecision.RequestContinuation)] }
      : { limits: { steps: turns.length + 1 } }),
    ports: { clock, ids, random: () => 0, onProblem: () => undefined },
  });
  return { collaboration, ids, start: CollaborationState.empty({ clock, ids }).withUserMessage('Go.', { ids }) };
}

const { codec } = CollaborationState;
const json = (value: unknown): unknown => JSON.parse(JSON.stringify(value));

test('the board is the fold of all writes, approvals hold for what stands, and every state can be stored, whole and as a change', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(move, { maxLength: 14 }), async (moves) => {
      const turns = moves.filter((each) => each.type === 'turn');
      const { collaboration, ids, start } = stage(turns, { goesOn: true });
      const expected = new Expected();
      let state = start;
      for (const each of moves) {
        const before = state;
        if (each.type === 'input') {
          expected.approvals = [];
          state = state.withUserMessage('Hm.', { ids });
        } else if (each.type === 'outside') {
          expected.write(each.artifact, each.content);
          state = state.withArtifact(each.artifact, each.content, { ids });
        } else {
          state = await collaboration.nextStep(state);
          const step = state.currentStep;
          expect(step?.errors.length).toBe(each.fails ? 1 : 0);
          const who = step?.participant ?? '';
          if (!each.fails) expected.take(who, toContribution(each, who, before.board.names));
        }
        expect(state.board.artifacts).toStrictEqual(expected.artifacts);
        expect(state.approvals).toStrictEqual(expected.holding);
        const whole = CollaborationState.fromJSON(json(state));
        const patched = codec.patch(CollaborationState.fromJSON(json(before)), json(codec.diff(before, state)));
        expect(json(whole)).toStrictEqual(json(state));
        expect(json(patched)).toStrictEqual(json(state));
        expect([whole.steps, whole.approvals, whole.board.artifacts]).toStrictEqual([state.steps, state.approvals, state.board.artifacts]);
        // Which of the two goes on makes no difference.
        if (each.type === 'turn' && each.writes.length === 1) state = whole;
      }
      const changes = state.session.executions.flatMap(({ results }) => results.toArray().flatMap(({ step }) => step.changes ?? []));
      const written = changes.flatMap((act) => (act.type === 'write' ? [`${act.artifact} ${act.version}`] : []));
      expect(new Set(written).size).toBe(written.length);
    }),
    { numRuns: pickRuns({ quick: 40, slow: 300 }) },
  );
}, 60_000);

test('the task is done after the turn in which the last approval came that was missing, and not before', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(turn, { minLength: 1, maxLength: 16 }), async (given) => {
      const turns = given.map((each) => ({ ...each, fails: false }));
      const { collaboration, start } = stage(turns, { goesOn: false });
      const expected = new Expected();
      let state = start;
      let isDone = false;
      for (const each of turns) {
        if (isDone) break;
        const there = state.board.names;
        state = await collaboration.nextStep(state);
        const who = state.currentStep?.participant ?? '';
        expected.take(who, toContribution(each, who, there));
        ({ isDone } = expected);
        expect([state.status, collaboration.hasNextStep(state)]).toStrictEqual(isDone ? ['completed', false] : ['in_progress', true]);
      }
    }),
    { numRuns: pickRuns({ quick: 40, slow: 300 }) },
  );
}, 60_000);

test('who is handed the turn has it, and nobody else is chosen by that', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(turn, { minLength: 2, maxLength: 12 }), async (turns) => {
      const { collaboration, start } = stage(turns, { goesOn: true });
      let state = start;
      for (const [index, each] of turns.entries()) {
        const last = index === 0 ? undefined : turns[index - 1];
        const before = state.currentStep?.participant;
        state = CollaborationState.fromJSON(json(await collaboration.nextStep(state)));
        const { participant, selection } = state.currentStep ?? {};
        if (last?.fails === true) expect([participant, selection?.by]).toStrictEqual([before, 'retry']);
        else if (last?.handoff !== undefined && last.handoff !== before)
          expect([participant, selection?.by]).toStrictEqual([last.handoff, 'handoff']);
        else expect([participant, selection?.by]).toStrictEqual([each.who, 'function']);
      }
    }),
    { numRuns: pickRuns({ quick: 40, slow: 300 }) },
  );
}, 60_000);

test('whoever is handed the turn how often: the round gives nobody a third turn before everyone has had a first', async () => {
  const plan = fc.array(fc.option(fc.constantFrom(...names), { nil: undefined, freq: 2 }), { minLength: 3, maxLength: 14 });
  await fc.assert(
    fc.asyncProperty(plan, async (handoffs) => {
      const [clock, ids] = [createFakeClock(), createCountingIds()];
      const collaborators = names.map((name) =>
        functionCollaborator({
          name,
          speak: ({ state }) => {
            const to = handoffs[state.stepCount];
            return to === undefined || to === name ? '.' : { handoff: { to, reason: 'go' } };
          },
        }),
      );
      const collaboration = createCollaboration({
        collaborators,
        criteria: [when<CollaborationState>('GoOn', () => ContinuationDecision.RequestContinuation)],
        limits: { steps: handoffs.length },
        ports: { clock, ids },
      });
      const { steps } = await collaboration.run(CollaborationState.empty({ clock, ids }).withUserMessage('Go.', { ids }));
      expect(steps).toHaveLength(handoffs.length);
      for (const [index, { participant, selection }] of steps.entries()) {
        const before = steps.slice(0, index).map((step) => step.participant);
        if (selection?.by === 'handoff' || before.filter((name) => name === participant).length < 2) continue;
        expect(new Set(before).size).toBe(names.length);
      }
    }),
    { numRuns: pickRuns({ quick: 40, slow: 300 }) },
  );
}, 60_000);
