import { expectTypeOf, test } from 'vitest';
import type { StoredEvent } from './stored-events.ts';

declare const event: StoredEvent;

test('a stored event is known by its type', () => {
  if (event.type === 'ToolCallCompleted') {
    expectTypeOf(event.toolCallId).toEqualTypeOf<string>();
    expectTypeOf(event.error).toEqualTypeOf<string | null>();
  }
  if (event.type === 'WaitResolved') expectTypeOf(event.by.id).toEqualTypeOf<string>();
  if (event.type === 'ToolApprovalRequested') expectTypeOf(event.digest).toEqualTypeOf<string | undefined>();
  if (event.type === 'ContinuationEvaluated') expectTypeOf(event.outcome.resolvedBy).toEqualTypeOf<string>();
});

test('pieces of text are not stored', () => {
  expectTypeOf<Extract<StoredEvent['type'], 'TextDelta' | 'ToolCallProgress'>>().toBeNever();
});
