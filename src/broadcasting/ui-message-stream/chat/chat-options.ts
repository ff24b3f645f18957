// Options of chatRoutes(), and what it makes of them.
import type { ProblemReporter } from '../../../events/index.ts';
import type { Clock, Redactor } from '../../../lib/index.ts';
import { checkKeys, defaultRedactor, describeValue, InvalidArgumentError, isRecord, systemClock } from '../../../lib/index.ts';
import type { SendOptions, SessionRuntime } from '../../../sessions/index.ts';
import type { SessionHandlerOptions } from '../../http/index.ts';
import { createReporter, Gate, parseBasePath, parseCount, parseOrigins } from '../../http/index.ts';

export interface ChatRouteOptions
  extends
    Pick<
      SessionHandlerOptions,
      | 'authenticate'
      | 'authorize'
      | 'newSession'
      | 'origins'
      | 'redactor'
      | 'heartbeatMs'
      | 'maxStreamMs'
      | 'maxBufferBytes'
      | 'onProblem'
      | 'clock'
    >,
    Pick<SendOptions, 'whileRunning' | 'whileWaiting'> {
  /** Path of the routes: the `api` of the page's transport. @default '/api/chat' */
  readonly basePath?: string;
  /** Largest body that is read. A page sends all its messages unless it is told otherwise. @default 4_000_000 */
  readonly maxBodyBytes?: number;
}

/** Everything that routes of chats need. */
export interface ChatServices {
  readonly runtime: SessionRuntime;
  readonly gate: Gate;
  readonly newSession: ChatRouteOptions['newSession'];
  readonly basePath: string;
  readonly origins: readonly string[];
  readonly maxBodyBytes: number;
  readonly redactor: Redactor;
  readonly heartbeatMs: number;
  readonly maxStreamMs: number;
  readonly maxBufferBytes: number;
  readonly rules: Pick<SendOptions, 'whileRunning' | 'whileWaiting'>;
  readonly report: ProblemReporter;
  readonly clock: Clock;
}

const known = [
  ...[
    'authenticate',
    'authorize',
    'newSession',
    'basePath',
    'origins',
    'maxBodyBytes',
    'redactor',
    'heartbeatMs',
    'maxStreamMs',
    'maxBufferBytes',
  ],
  ...['onProblem', 'clock', 'whileRunning', 'whileWaiting'],
];

/** Checks the options of chatRoutes(). */
export function createChatServices(runtime: SessionRuntime, options: ChatRouteOptions): ChatServices {
  if (!isRecord(options)) throw new InvalidArgumentError(`chatRoutes() needs options, not ${describeValue(options)}.`);
  checkKeys('chatRoutes()', options, known);
  const { newSession, whileRunning, whileWaiting, redactor = defaultRedactor, clock = systemClock } = options;
  if (typeof newSession !== 'function')
    throw new InvalidArgumentError('chatRoutes() needs newSession: a function that returns the tenant and owner of a new session.');
  return {
    runtime,
    gate: new Gate(options, 'chatRoutes()'),
    newSession,
    basePath: parseBasePath(options.basePath ?? '/api/chat'),
    origins: parseOrigins(options.origins ?? []),
    maxBodyBytes: parseCount('maxBodyBytes', options.maxBodyBytes ?? 4_000_000),
    redactor,
    heartbeatMs: parseCount('heartbeatMs', options.heartbeatMs ?? 15_000),
    maxStreamMs: parseCount('maxStreamMs', options.maxStreamMs ?? 3_600_000),
    maxBufferBytes: parseCount('maxBufferBytes', options.maxBufferBytes ?? 256_000),
    rules: { ...(whileRunning !== undefined && { whileRunning }), ...(whileWaiting !== undefined && { whileWaiting }) },
    report: createReporter(options.onProblem),
    clock,
  };
}
