import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { DamagedDataError, readObject } from '../lib/index.ts';
import { Message, Usage } from '../messages/index.ts';
import type { TurnChange, CollaborationStep, Fit } from './index.ts';
import { CollaborationState, createCollaboration, scriptedCollaborator } from './index.ts';
import { collaborationCodec } from './step-codec.ts';

const plain: CollaborationStep = { id: 's', participant: 'ann', outputMessages: [Message.user('x')], usage: Usage.none(), errors: [] };
const { changes: _acts, fit: _fit, ...bare } = plain;

function roundTrip(step: CollaborationStep): CollaborationStep {
  const written: unknown = JSON.parse(JSON.stringify(collaborationCodec.encode(step)));
  return collaborationCodec.decode(bare, readObject(written, 'step'));
}

const name = fc.string({ minLength: 1, maxLength: 20 });
const version = fc.integer({ min: 1, max: 1000 });
const act: fc.Arbitrary<TurnChange> = fc.oneof(
  fc.record({ type: fc.constant('write' as const), artifact: name, version }, { noNullPrototype: true }),
  fc.record(
    { type: fc.constant('approve' as const), artifact: name, version, note: fc.string() },
    { requiredKeys: ['type', 'artifact', 'version'], noNullPrototype: true },
  ),
  fc.record({ type: fc.constant('handoff' as const), to: name, reason: fc.string() }, { noNullPrototype: true }),
);
const fit: fc.Arbitrary<Fit> = fc.record(
  { artifact: name, version: fc.nat(), ok: fc.boolean(), problem: fc.string(), schema: fc.string(), isUnknown: fc.boolean() },
  { requiredKeys: ['artifact', 'version', 'ok', 'schema'], noNullPrototype: true },
);

test('every turn is read as it was written', () => {
  const step = fc.record({ changes: fc.array(act), fit }, { requiredKeys: [], noNullPrototype: true });
  fc.assert(
    fc.property(step, (more) => {
      expect(roundTrip({ ...plain, ...more })).toStrictEqual({ ...plain, ...more });
    }),
  );
});

test('the version of an artifact is on the turn, its words are on the board alone', () => {
  const written = collaborationCodec.encode({ ...plain, changes: [{ type: 'write', artifact: 'draft', version: 3 }] });
  expect(written).toStrictEqual({ changes: [{ type: 'write', artifact: 'draft', version: 3 }] });
});

describe('what is damaged is told, with its place', () => {
  test.each([
    { what: 'an act of no kind', fields: { changes: [{ type: 'erase', artifact: 'a', version: 1 }] }, at: /changes/ },
    { what: 'an act without an artifact', fields: { changes: [{ type: 'write', version: 1 }] }, at: /changes.*artifact/ },
    { what: 'a version that is no number', fields: { changes: [{ type: 'write', artifact: 'a', version: '1' }] }, at: /version/ },
    { what: 'a handover to nobody', fields: { changes: [{ type: 'handoff', reason: 'x' }] }, at: /to/ },
    { what: 'a note that is no text', fields: { changes: [{ type: 'approve', artifact: 'a', version: 1, note: 4 }] }, at: /note/ },
    { what: 'changes that are no list', fields: { changes: 'none' }, at: /changes/ },
    { what: 'a finding without an answer', fields: { fit: { artifact: 'a', version: 1 } }, at: /ok/ },
    { what: 'a finding without its form', fields: { fit: { artifact: 'a', version: 1, ok: true } }, at: /schema/ },
    {
      what: 'a finding that is unknown in a word',
      fields: { fit: { artifact: 'a', version: 1, ok: false, schema: 'x', isUnknown: 'yes' } },
      at: /isUnknown/,
    },
    { what: 'a finding that is a word', fields: { fit: 'yes' }, at: /fit/ },
  ])('$what', ({ fields, at }) => {
    const read = () => collaborationCodec.decode(bare, readObject(fields, 'step'));
    expect(read).toThrow(DamagedDataError);
    expect(read).toThrow(at);
  });

  test('a state of another kind', () => {
    const stored = JSON.parse(JSON.stringify(CollaborationState.empty())) as { kind: string };
    expect(stored.kind).toBe('collaboration-state');
    expect(() => CollaborationState.fromJSON({ ...stored, kind: 'chat-state' })).toThrow();
    expect(() => CollaborationState.fromJSON('nothing')).toThrow();
  });
});

describe('turns that follow one another', () => {
  // What is the same as in the turn before is not written again: what is absent must stay absent, and what is the same must come back.
  test.each([
    { what: 'the same, then nothing', says: [{ writes: { a: 'x' } }, {}, { writes: { b: 'x' } }, { writes: { a: 'y' } }, 'x', 'x'] },
    {
      what: 'the same approval again and again',
      says: [{ writes: { a: 'x' } }, { approves: ['a'] }, { approves: ['a'] }, '', { approves: ['a'] }],
    },
    { what: 'nothing, then something', says: ['', {}, '', { approves: [] }, { writes: { a: '' } }] },
  ])('$what: are read as they were', async ({ says }) => {
    const collaboration = createCollaboration({
      collaborators: [scriptedCollaborator({ name: 'ann', says }), scriptedCollaborator({ name: 'bob', says: [''] })],
      selector: () => 'ann',
      done: { approvedBy: ['ann', 'bob'], artifact: 'data', schema: { type: 'object' } },
      limits: { steps: says.length },
    });
    const end = await collaboration.run(CollaborationState.empty().withUserMessage('Go.'));
    expect(end.stepCount).toBe(says.length);
    const read = CollaborationState.fromJSON(JSON.parse(JSON.stringify(end)));
    expect(read.steps).toStrictEqual(end.steps);
    expect([read.board.artifacts, read.approvals]).toStrictEqual([end.board.artifacts, end.approvals]);
  });
});
