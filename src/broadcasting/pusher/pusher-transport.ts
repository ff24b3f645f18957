// The publisher.
// Owns:     when requests are made, and what happens after one failed.
// Does not: know events or sessions: it gets envelopes, by channel.
// U1. `send` never waits and never throws: a server that is slow or gone costs a bounded amount of memory, and nothing else.
// U2. Envelopes of a channel arrive in their order, some perhaps twice; those of several channels are sent side by side.
// U3. A request is never larger than the limit, headers included.
// U4. While the server is out of reach, one request at a time asks whether it is back: after a pause that doubles up to half a minute.
// U5. When it is back, each channel that has lost stored envelopes gets a head, so that pages fetch them over HTTP.
import type { ProblemReporter } from '../../events/index.ts';
import { reportSafely, reportToConsole } from '../../events/index.ts';
import type { Clock, Random } from '../../lib/index.ts';
import { checkKeys, describeValue, InvalidArgumentError, systemClock, systemRandom } from '../../lib/index.ts';
import type { Envelope, EnvelopeMapper, EnvelopeTransport } from '../index.ts';
import { createEnvelopeMapper } from '../index.ts';
import { isUsableName } from './channel-name.ts';
import { fitEnvelope } from './fit-envelope.ts';
import type { PostOptions, PostOutcome } from './post-events.ts';
import { createPost, getRoom } from './post-events.ts';
import { PublishFailedError } from './publish-failed-error.ts';
import type { BatchLimits, QueuedEvent } from './publish-queue.ts';
import { PublishQueue } from './publish-queue.ts';
import type { PusherApp } from './pusher-app.ts';
import { parseApp } from './pusher-app.ts';

/** Options of createPusherTransport(). */
export interface PusherTransportOptions extends PusherApp {
  /** Most bytes that wait to be published. @default 4_000_000 */
  readonly maxQueueBytes?: number;
  /** Most bytes of a request, headers included. Reverb counts them against its `max_request_size` of 10,000. @default 9_000 */
  readonly maxRequestBytes?: number;
  /** Time that a server has to answer. @default 10_000 */
  readonly timeoutMs?: number;
  /** Receives the first error of each outage, and events that the server refuses. @default console.error */
  readonly onProblem?: ProblemReporter;
  /** @default globalThis.fetch */
  readonly fetch?: (url: string, init: RequestInit) => Promise<Response>;
  readonly clock?: Clock;
  readonly random?: Random;
}

/** Numbers of a publisher since it was created. */
export interface PusherStats {
  /** False after a request has failed, until one gets through. */
  readonly isReachable: boolean;
  /** Events that wait. */
  readonly queued: number;
  readonly queuedBytes: number;
  readonly published: number;
  /** Pieces that were dropped: text, progress, and what was not stored yet. */
  readonly droppedPieces: number;
  /** Stored envelopes that were dropped: pages fetch them over HTTP. */
  readonly droppedEvents: number;
}

/** Publishes envelopes to a server of the Pusher protocol. */
export interface PusherTransport extends EnvelopeTransport {
  readonly stats: PusherStats;
  /** Resolves when nothing waits any more: true, or false if the time is up first. @default timeoutMs 5_000 */
  flush(timeoutMs?: number): Promise<boolean>;
  /** Publishes what waits, as far as the time allows, and nothing after that. @default timeoutMs 5_000 */
  close(timeoutMs?: number): Promise<void>;
}

/** Names of the options. */
export const transportOptionNames: readonly (keyof PusherTransportOptions)[] = [
  ...(['appId', 'key', 'secret', 'url', 'maxQueueBytes', 'maxRequestBytes', 'timeoutMs', 'onProblem', 'fetch', 'clock', 'random'] as const),
];

/** Most events of a batch that every server takes. */
const mostEvents = 10;
const mostRequests = 4;
const firstDelayMs = 500;
const longestDelayMs = 30_000;
/** Least size of a request: an envelope that was cut has to fit. */
const leastRequestBytes = 4_000;
const closeMs = 5_000;

const getKind = (envelope: Envelope): QueuedEvent['kind'] => {
  if (envelope.event === 'agent.head') return 'head';
  return 'seq' in envelope ? 'stored' : 'piece';
};

function getSeq(envelope: Envelope): number {
  if ('seq' in envelope) return envelope.seq;
  const { seq } = envelope.data;
  return typeof seq === 'number' ? seq : 0;
}

interface PublisherOptions extends PostOptions {
  readonly maxQueueBytes: number;
  readonly maxRequestBytes: number;
  readonly random: Random;
  readonly onProblem: ProblemReporter;
}

class Publisher implements PusherTransport {
  readonly #options: PublisherOptions;
  readonly #queue: PublishQueue;
  readonly #limits: BatchLimits;
  readonly #post: ReturnType<typeof createPost>;
  readonly #mapper: EnvelopeMapper = createEnvelopeMapper();
  readonly #closing = new AbortController();
  readonly #idle = new Set<() => void>();
  #requests = 0;
  #failures = 0;
  #published = 0;
  #isClosed = false;
  #isPumpDue = false;
  #cancelPause: (() => void) | undefined;
  /** Status of the last failure that was reported; undefined while the server takes events. */
  #reported: number | undefined;
  #hasReportedName = false;

  constructor(options: PublisherOptions) {
    this.#options = options;
    this.#queue = new PublishQueue(options.maxQueueBytes);
    this.#limits = { maxBytes: getRoom(options.app, options.maxRequestBytes), maxEvents: mostEvents };
    this.#post = createPost(options);
  }

  get stats(): PusherStats {
    const { size: queued, bytes: queuedBytes, droppedPieces, droppedEvents } = this.#queue;
    return { isReachable: this.#failures === 0, queued, queuedBytes, published: this.#published, droppedPieces, droppedEvents };
  }

  send(channel: string, envelopes: readonly Envelope[]): void {
    if (this.#isClosed) return;
    if (!isUsableName(channel)) {
      this.#reportName(
        new PublishFailedError(`The channel ${describeValue(channel)} cannot be used: its name is too long. Its pages use SSE.`, 0),
      );
      return;
    }
    this.#queue.add(envelopes.flatMap((envelope) => this.#toEvents(channel, envelope)));
    this.#pumpSoon();
  }

  flush(timeoutMs: number = closeMs): Promise<boolean> {
    if (this.#isIdle || timeoutMs <= 0) return Promise.resolve(this.#isIdle);
    return new Promise((resolve) => {
      const finish = (isEmpty: boolean): void => {
        cancel();
        this.#idle.delete(onIdle);
        resolve(isEmpty);
      };
      const onIdle = (): void => finish(this.#queue.size === 0);
      const cancel = this.#options.clock.schedule(timeoutMs, () => finish(false));
      this.#idle.add(onIdle);
    });
  }

  async close(timeoutMs: number = closeMs): Promise<void> {
    if (this.#isClosed) return;
    await this.flush(timeoutMs);
    this.#isClosed = true;
    this.#cancelPause?.();
    this.#closing.abort();
    this.#queue.clear();
    this.#noteIdle();
  }

  get #isIdle(): boolean {
    return this.#isClosed || (this.#queue.size === 0 && this.#requests === 0);
  }

  #noteIdle(): void {
    if (this.#isIdle) for (const listener of [...this.#idle]) listener();
  }

  #toEvents(channel: string, envelope: Envelope): readonly QueuedEvent[] {
    const about = { kind: getKind(envelope), channel, sessionId: envelope.session_id, seq: getSeq(envelope) };
    const events = fitEnvelope(channel, envelope, this.#limits.maxBytes);
    if (events.length === 0) this.#queue.drop([{ ...about, text: '', bytes: 0 }]);
    return events.map((event) => ({ ...event, ...about }));
  }

  /** Waits for the rest of what is sent at once. */
  #pumpSoon(): void {
    if (this.#isPumpDue) return;
    this.#isPumpDue = true;
    queueMicrotask(() => {
      this.#isPumpDue = false;
      this.#pump();
    });
  }

  #pump(): void {
    const most = this.#failures === 0 ? mostRequests : 1;
    while (!this.#isClosed && this.#cancelPause === undefined && this.#requests < most) {
      const events = this.#queue.take(this.#limits);
      if (events.length === 0) break;
      void this.#publish(events);
    }
    this.#noteIdle();
  }

  async #publish(events: readonly QueuedEvent[]): Promise<void> {
    this.#requests += 1;
    const outcome = await this.#post(events, this.#closing.signal);
    if (outcome.type === 'refused' && events.length > 1) await this.#publishEach(events);
    else this.#finish(events, outcome);
    this.#requests -= 1;
    this.#pump();
  }

  /** One of the events may be the reason why all were refused. */
  async #publishEach(events: readonly QueuedEvent[]): Promise<void> {
    for (const [index, event] of events.entries()) {
      const outcome = await this.#post([event], this.#closing.signal);
      if (outcome.type === 'failed') {
        this.#finish(events.slice(index), outcome);
        return;
      }
      this.#count([event], outcome);
    }
    this.#queue.release(events);
  }

  #finish(events: readonly QueuedEvent[], outcome: PostOutcome): void {
    if (outcome.type === 'failed') {
      this.#queue.putBack(events);
      this.#pause(outcome.retryAfterMs);
      this.#report(outcome.error);
      return;
    }
    this.#queue.release(events);
    this.#count(events, outcome);
  }

  #count(events: readonly QueuedEvent[], outcome: PostOutcome): void {
    this.#failures = 0;
    this.#reported = undefined;
    if (outcome.type === 'published') this.#published += events.length;
    else if (outcome.type === 'refused') {
      this.#queue.drop(events);
      this.#report(outcome.error);
      return;
    }
    this.#sendLostHeads();
  }

  #sendLostHeads(): void {
    const at = this.#options.clock.now();
    for (const { channel, sessionId, seq } of this.#queue.takeLost())
      this.#queue.add(this.#toEvents(channel, this.#mapper.toHead({ sessionId, seq, at })));
  }

  #pause(retryAfterMs: number | undefined): void {
    if (this.#cancelPause !== undefined || this.#isClosed) return;
    const { clock, random } = this.#options;
    const longest = Math.min(longestDelayMs, firstDelayMs * 2 ** Math.min(this.#failures, 10));
    this.#failures += 1;
    const resume = (): void => {
      this.#cancelPause = undefined;
      this.#pump();
    };
    this.#cancelPause = clock.schedule(retryAfterMs ?? longest * (0.5 + random() / 2), resume, true);
  }

  #reportName(error: PublishFailedError): void {
    if (!this.#hasReportedName) reportSafely(this.#options.onProblem, error, 'publishing envelopes');
    this.#hasReportedName = true;
  }

  /** Reports a problem, unless it is still the last one. */
  #report(error: PublishFailedError): void {
    if (this.#reported === error.status || this.#isClosed) return;
    this.#reported = error.status;
    reportSafely(this.#options.onProblem, error, 'publishing envelopes');
  }
}

function parseCount(name: string, value: number, least: number): number {
  if (Number.isSafeInteger(value) && value >= least) return value;
  throw new InvalidArgumentError(`${name} must be a whole number of ${least} or more, not ${describeValue(value)}.`);
}

/** Creates a transport for AgentEventEnvelopeAdapter that publishes to Laravel Reverb, soketi or Pusher. */
export function createPusherTransport(options: PusherTransportOptions): PusherTransport {
  checkKeys('createPusherTransport()', options, transportOptionNames);
  const { clock = systemClock, random = systemRandom, onProblem = reportToConsole, fetch = globalThis.fetch } = options;
  const publisher = new Publisher({
    app: parseApp(options, 'createPusherTransport()'),
    maxQueueBytes: parseCount('maxQueueBytes', options.maxQueueBytes ?? 4_000_000, 1),
    maxRequestBytes: parseCount('maxRequestBytes', options.maxRequestBytes ?? 9_000, leastRequestBytes),
    timeoutMs: parseCount('timeoutMs', options.timeoutMs ?? 10_000, 1),
    ...{ clock, random, onProblem, fetch: (url: string, init: RequestInit) => fetch(url, init) },
  });
  return publisher;
}
