import { globSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import type { JsonObject } from '../../lib/index.ts';
import { DamagedDataError, InvalidArgumentError, SteplineError } from '../../lib/index.ts';
import { NewerSchemaError, WrongKindError } from '../../serialization/index.ts';
import { AlreadyAnsweredError, MessageRefusedError, NotWaitingError } from '../../step-by-step/index.ts';
import {
  ActionRefusedError,
  AgentChangedError,
  ContextFailedError,
  CrashLoopError,
  ForeignApprovalError,
  ForgedApprovalError,
  LateAnswerError,
  LeaseLostError,
  MailWaitingError,
  RemoteError,
  RequestReusedError,
  RuntimeClosedError,
  SessionConflictError,
  SessionDamagedError,
  SessionDeletedError,
  StaleApprovalError,
  StoreUnavailableError,
  UnknownAgentError,
  UnknownSessionError,
  UnknownStepError,
} from './errors.ts';
import { fromWire, toWire } from './wire-errors.ts';

const samples: readonly SteplineError[] = [
  new ActionRefusedError('the wait is over', 'late-answer'),
  new AgentChangedError('agent', { stored: 'version 1', found: 'version 2', policy: 'pin' }),
  new AlreadyAnsweredError('w'),
  new ContextFailedError('s', new Error('no database')),
  new CrashLoopError('s', { attempts: 3, since: 5, step: 2 }),
  new DamagedDataError('log[3]', 'expected a string'),
  new ForeignApprovalError('w', { own: 'a', given: 'b' }),
  new ForgedApprovalError('w'),
  new InvalidArgumentError('A session id must be text.'),
  new LateAnswerError('w', 'it expired'),
  new LeaseLostError('s'),
  new MailWaitingError('s'),
  new MessageRefusedError(['w'], 'Answer it first.'),
  new NewerSchemaError('agent-state', { found: 9, supported: 2 }),
  new NotWaitingError('w', ['a', 'b']),
  new RequestReusedError('r'),
  new RuntimeClosedError('it was drained', { isStored: true }),
  new SessionConflictError('s', { expected: 3, found: 4 }),
  new SessionDamagedError('s', 'entry 4 was changed', new Error('sum')),
  new SessionDeletedError('s', 86_400_000),
  new StaleApprovalError('w'),
  new StoreUnavailableError('full', 'there is no room on the disk', new Error('ENOSPC')),
  new UnknownAgentError('x', ['a']),
  new UnknownSessionError('s'),
  new UnknownStepError('s', { execution: 1, step: 9 }),
  new WrongKindError('agent-state', 'chat-state'),
];

const overTheWire = (error: unknown): Error => fromWire(JSON.parse(JSON.stringify(toWire(error))) as JsonObject);

/** Fields that were set by the constructors: everything but the stack and the cause. */
const readFields = (error: Error): object => ({ ...error, message: error.message });

/** Codes of the classes that sessions can throw, read from their files. */
async function readCodes(): Promise<readonly string[]> {
  const root = join(import.meta.dirname, '../..');
  const files = globSync('{sessions/**,step-by-step,serialization,lib}/{*-error,errors}.ts', { cwd: root });
  const modules = await Promise.all(files.map((file) => import(join(root, file)) as Promise<Record<string, unknown>>));
  const made = new Map(samples.map((sample) => [sample.constructor, sample.code]));
  return (
    modules
      .flatMap((module) => Object.values(module))
      .filter((value) => typeof value === 'function' && value.prototype instanceof SteplineError && value !== RemoteError)
      // Holds: everything else was filtered out.
      .map((value) => value as () => unknown)
      .map((value) => made.get(value) ?? `no sample of ${value.name}`)
  );
}

describe('errors over a wire', () => {
  it('know every error that sessions can throw', async () => {
    const codes = await readCodes();
    expect(codes.length).toBeGreaterThan(20);
    expect(codes.toSorted()).toEqual(samples.map(({ code }) => code).toSorted());
  });

  it.each(samples)('bring $name back as it was', (error) => {
    const back = overTheWire(error);
    expect(back).toBeInstanceOf(error.constructor);
    expect(Object.getPrototypeOf(back)).toBe(Object.getPrototypeOf(error));
    expect(SteplineError.is(back)).toBe(true);
    expect(readFields(back)).toEqual(readFields(error));
    expect(back.stack).toContain(error.message);
  });

  it('leave the stack and the cause where they were', () => {
    const text = JSON.stringify(toWire(new StoreUnavailableError('failed', 'it is gone', new Error('password=hunter22'))));
    expect(text).not.toContain('wire-errors.test');
    expect(text).not.toContain('hunter22');
  });

  it('leave out what somebody has added to an error, unless it is plain', () => {
    const added: { self?: object } = {};
    added.self = added;
    const wire = toWire(Object.assign(new LateAnswerError('w', 'it expired'), { added, call: () => 1 }));
    expect(wire['fields']).toEqual({ waitId: 'w' });
    expect(JSON.stringify(wire)).toContain('it expired');
  });

  it('keep the code and the message of an error that is not known here', () => {
    const back = fromWire({ name: 'FutureError', code: 'from-the-future', message: 'A newer release refused it.', fields: { a: 1 } });
    expect(back).toBeInstanceOf(RemoteError);
    expect(back).toMatchObject({ name: 'FutureError', code: 'from-the-future', message: 'A newer release refused it.' });
    expect(back).not.toHaveProperty('a');
  });

  it('redact a foreign error, and drop everything but its name, code and message', () => {
    const foreign = Object.assign(new TypeError('cannot reach postgres://app:hunter22@db/x'), { code: 'ECONNREFUSED', secret: 'hunter22' });
    const wire = toWire(foreign);
    expect(JSON.stringify(wire)).not.toContain('hunter22');
    expect(fromWire(wire)).toMatchObject({ name: 'TypeError', code: 'ECONNREFUSED' });
    expect(fromWire(wire).message).toContain('cannot reach');
  });

  it.each(['text', undefined, null, 7, { message: 4 }, Object.create(null)])('take anything that was thrown: %o', (thrown) => {
    const back = overTheWire(thrown);
    expect(back).toBeInstanceOf(Error);
    expect(back).toMatchObject({ code: 'unclassified' });
    if (thrown === 'text') expect(back.message).toBe('text');
  });

  it.each([{}, { code: 'constructor' }, { code: '__proto__', message: 'x' }, { code: 'late-answer', fields: 4 }])(
    'read damaged data as some error: %o',
    (data) => {
      expect(fromWire(data)).toBeInstanceOf(Error);
    },
  );

  it('can be read by both sides if text is broken', () => {
    const wire = toWire(new InvalidArgumentError('half \ud800 of it \u0000'));
    expect(JSON.stringify(wire)).not.toMatch(/\\ud800|\\u0000/);
  });
});
