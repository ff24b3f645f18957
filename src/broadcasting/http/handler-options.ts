// Options of the handler, and what it makes of them.
import type { SlimSerializationOptions } from '../../agent/index.ts';
import { SlimAgentStateSerializer } from '../../agent/index.ts';
import type { ProblemReporter } from '../../events/index.ts';
import type { Clock, JsonObject, Redactor } from '../../lib/index.ts';
import { checkKeys, defaultRedactor, describeValue, InvalidArgumentError, isRecord, systemClock } from '../../lib/index.ts';
import type { Actor, NewSession, SessionFacts, SessionRuntime } from '../../sessions/index.ts';
import type { BroadcastOptions, EnvelopeMapper } from '../index.ts';
import { BroadcastPreset, createEnvelopeMapper } from '../index.ts';
import type { GateOptions } from './authorization.ts';
import { Gate } from './authorization.ts';
import type { ChannelTokens } from './channel-tokens.ts';
import { createSignedTokens } from './channel-tokens.ts';
import { createReporter, parseBasePath, parseCount, parseOrigins } from './parse-options.ts';
import type { ChannelSigner } from './routes/channel-route.ts';
import type { Signer } from './signer.ts';
import { createSigner } from './signer.ts';

/** A request that makes a session. */
export interface NewSessionQuestion {
  readonly request: Request;
  readonly action: 'create' | 'fork';
  readonly by: Actor;
  /** The body of the request. Nothing of it counts unless it is returned. */
  readonly body: JsonObject;
  /** The session that is forked. */
  readonly source?: SessionFacts;
}

export interface SessionHandlerOptions extends GateOptions {
  /**
   * Returns the tenant and the owner of a session that a request makes, and its agent, tags and id if they are not the default ones.
   * `authorize` then decides about it.
   */
  readonly newSession: (question: NewSessionQuestion) => NewSession | Promise<NewSession>;
  /** Path before all routes. @default '', which serves /sessions, /waits and /health */
  readonly basePath?: string;
  /** Origins whose pages may use the handler, beside those of its own host: `https://app.example`. @default [] */
  readonly origins?: readonly string[];
  /** Largest body that is read. @default 1_000_000 */
  readonly maxBodyBytes?: number;
  /** Lets pages listen to the channels of sessions on another server: `createPusherChannels({ key, secret })`. @default no channels */
  readonly channels?: ChannelSigner;
  /**
   * Key for tokens: a random string of 32 bytes or more, the same in every process that serves these sessions.
   * @default a random one, which ends with the process
   */
  readonly secret?: string;
  /** Name of this service: tokens that were issued for another one are refused. @default 'stepline/http' */
  readonly audience?: string;
  /** Settings for how much of a state `get` shows. @default SlimSerializationConfig.standard() */
  readonly slim?: SlimSerializationOptions;
  /** Removes secrets from everything that is sent. @default a redactor that knows the obvious ones */
  readonly redactor?: Redactor;
  /** Contents of envelopes. The trace of decisions is sent unless `preset` is `minimal`: pages show it. @default { preset: 'standard', includeContinuationTrace: true } */
  readonly broadcast?: Omit<BroadcastOptions, 'redactor'>;
  /** Interval of `agent.head`, which keeps an idle stream open. @default 15_000 */
  readonly heartbeatMs?: number;
  /** Time after which a browser reconnects. @default 2_000 */
  readonly retryMs?: number;
  /** Time after which a stream ends, so that its reader is authorized again when it reconnects. @default 3_600_000 */
  readonly maxStreamMs?: number;
  /** Bytes that a stream keeps for a slow reader before it drops them and continues with a snapshot. @default 256_000 */
  readonly maxBufferBytes?: number;
  /** Receives errors that no client can do anything about. @default console.error */
  readonly onProblem?: ProblemReporter;
  readonly clock?: Clock;
}

/** Everything that routes need. */
export interface HandlerServices {
  readonly runtime: SessionRuntime;
  readonly gate: Gate;
  readonly newSession: SessionHandlerOptions['newSession'];
  readonly basePath: string;
  readonly origins: readonly string[];
  readonly maxBodyBytes: number;
  readonly channels: ChannelSigner | undefined;
  readonly signer: Signer;
  readonly tokens: ChannelTokens;
  readonly slim: SlimAgentStateSerializer;
  readonly redactor: Redactor;
  readonly mapper: EnvelopeMapper;
  /** Maps events without cutting anything. */
  readonly wholeMapper: EnvelopeMapper;
  readonly heartbeatMs: number;
  readonly retryMs: number;
  readonly maxStreamMs: number;
  readonly maxBufferBytes: number;
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
    'secret',
    'audience',
    'slim',
    'redactor',
    'broadcast',
  ],
  ...['heartbeatMs', 'retryMs', 'maxStreamMs', 'maxBufferBytes', 'onProblem', 'clock', 'channels'],
];

/** Checks the options of createSessionHandler(). */
export function createServices(runtime: SessionRuntime, options: SessionHandlerOptions): HandlerServices {
  if (!isRecord(options)) throw new InvalidArgumentError(`createSessionHandler() needs options, not ${describeValue(options)}.`);
  checkKeys('createSessionHandler()', options, known);
  const { newSession, audience, redactor = defaultRedactor, clock = systemClock } = options;
  if (typeof newSession !== 'function')
    throw new InvalidArgumentError(
      'createSessionHandler() needs newSession: a function that returns the tenant and owner of a new session.',
    );
  const signer = createSigner(options.secret);
  const contents = { includeContinuationTrace: options.broadcast?.preset !== BroadcastPreset.Minimal, ...options.broadcast, redactor };
  return {
    runtime,
    gate: new Gate(options, 'createSessionHandler()'),
    newSession,
    basePath: parseBasePath(options.basePath ?? ''),
    origins: parseOrigins(options.origins ?? []),
    maxBodyBytes: parseCount('maxBodyBytes', options.maxBodyBytes ?? 1_000_000),
    channels: options.channels,
    signer,
    tokens: createSignedTokens({ signer, clock, ...(audience !== undefined && { audience }) }),
    slim: new SlimAgentStateSerializer(options.slim, { redactor }),
    redactor,
    mapper: createEnvelopeMapper(contents),
    wholeMapper: createEnvelopeMapper({ ...contents, maxBytes: Number.MAX_SAFE_INTEGER }),
    heartbeatMs: parseCount('heartbeatMs', options.heartbeatMs ?? 15_000),
    retryMs: parseCount('retryMs', options.retryMs ?? 2_000),
    maxStreamMs: parseCount('maxStreamMs', options.maxStreamMs ?? 3_600_000),
    maxBufferBytes: parseCount('maxBufferBytes', options.maxBufferBytes ?? 256_000),
    report: createReporter(options.onProblem),
    clock,
  };
}
