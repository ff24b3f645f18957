// Options of the handler, and what it makes of them.
import type { ProblemReporter } from '../../events/index.ts';
import type { Clock, Redactor } from '../../lib/index.ts';
import { checkKeys, defaultRedactor, describeValue, InvalidArgumentError, isRecord, systemClock } from '../../lib/index.ts';
import type { SessionRuntime } from '../../sessions/index.ts';
import type { GateOptions, SessionHandlerOptions, Signer } from '../http/index.ts';
import { createReporter, createSigner, Gate, parseCount, parseOrigins } from '../http/index.ts';
import { AnswerCollector } from './answer-collector.ts';

export interface AgUiHandlerOptions extends GateOptions {
  /** Returns the tenant and the owner of a session that a thread makes, and its agent and tags. Its id is that of the thread. */
  readonly newSession: SessionHandlerOptions['newSession'];
  /** Origins whose pages may use the handler, beside those of its own host: `https://app.example`. @default [] */
  readonly origins?: readonly string[];
  /** Largest body that is read. A page sends its whole history with every run. @default 4_000_000 */
  readonly maxBodyBytes?: number;
  /** Key for proofs that a wait was shown whole: the one that `createSessionHandler` has. @default a random one */
  readonly secret?: string;
  /** Removes secrets from everything that is sent. @default a redactor that knows the obvious ones */
  readonly redactor?: Redactor;
  /** Interval of a comment that keeps an idle stream open. @default 15_000 */
  readonly heartbeatMs?: number;
  /** Time after which a stream ends, so that its reader is authorized again. @default 3_600_000 */
  readonly maxStreamMs?: number;
  /** Bytes that a stream keeps for a slow reader. @default 256_000 */
  readonly maxBufferBytes?: number;
  /** Receives errors that no client can do anything about. @default console.error */
  readonly onProblem?: ProblemReporter;
  readonly clock?: Clock;
}

/** Everything that a run needs. */
export interface AgUiServices {
  readonly runtime: SessionRuntime;
  readonly gate: Gate;
  readonly newSession: AgUiHandlerOptions['newSession'];
  readonly origins: readonly string[];
  readonly maxBodyBytes: number;
  readonly signer: Signer;
  readonly redactor: Redactor;
  readonly heartbeatMs: number;
  readonly maxStreamMs: number;
  readonly maxBufferBytes: number;
  readonly report: ProblemReporter;
  readonly clock: Clock;
  readonly collector: AnswerCollector;
}

const maker = 'createAgUiHandler()';

const known = [
  ...[
    'authenticate',
    'authorize',
    'newSession',
    'origins',
    'maxBodyBytes',
    'secret',
    'redactor',
    'heartbeatMs',
    'maxStreamMs',
    'maxBufferBytes',
  ],
  ...['onProblem', 'clock'],
];

/** Checks the options of createAgUiHandler(). */
export function createServices(runtime: SessionRuntime, options: AgUiHandlerOptions): AgUiServices {
  if (!isRecord(options)) throw new InvalidArgumentError(`${maker} needs options, not ${describeValue(options)}.`);
  checkKeys(maker, options, known);
  const { newSession, redactor = defaultRedactor, clock = systemClock } = options;
  if (typeof newSession !== 'function')
    throw new InvalidArgumentError(`${maker} needs newSession: a function that returns the tenant and owner of a new session.`);
  return {
    runtime,
    gate: new Gate(options, maker),
    newSession,
    origins: parseOrigins(options.origins ?? []),
    maxBodyBytes: parseCount('maxBodyBytes', options.maxBodyBytes ?? 4_000_000),
    signer: createSigner(options.secret),
    redactor,
    heartbeatMs: parseCount('heartbeatMs', options.heartbeatMs ?? 15_000),
    maxStreamMs: parseCount('maxStreamMs', options.maxStreamMs ?? 3_600_000),
    maxBufferBytes: parseCount('maxBufferBytes', options.maxBufferBytes ?? 256_000),
    report: createReporter(options.onProblem),
    clock,
    collector: new AnswerCollector(),
  };
}
