// The adapter from events to envelopes.
// Owns:     what was sent on which channel.
// Does not: know how envelopes travel.
// E1. It never throws and never waits: errors of the transport are reported, and the run continues. A transport that fails to say who
//     listens is sent everything.
// E2. Nothing is built for a channel that nobody listens to.
// E3. Envelopes of a channel are handed over in the order of their events.
import type { BaseEvent, ProblemReporter } from '../events/index.ts';
import { reportSafely, reportToConsole } from '../events/index.ts';
import type { Callback, Clock } from '../lib/index.ts';
import { checkKeys, isThenable, readField, systemClock } from '../lib/index.ts';
import type { SessionFacts } from '../sessions/index.ts';
import type { BroadcastOptions } from './broadcast-options.ts';
import { broadcastOptionNames } from './broadcast-options.ts';
import type { Envelope } from './envelope.ts';
import type { EnvelopeMapper } from './envelope-mapper.ts';
import { createEnvelopeMapper, isPiece } from './envelope-mapper.ts';
import { HeadTimer } from './head-timer.ts';
import type { PlacedEvent, VoidAttempt } from './sent-session.ts';
import { SentSession } from './sent-session.ts';
import { withDigest } from './sign-approval.ts';
import type { CanBroadcastAgentEvents, EnvelopeTransport } from './transport.ts';

/** Options of an adapter. */
export interface EnvelopeAdapterOptions extends BroadcastOptions {
  /** Returns the channel of a session. @default `agent.` and the id of the session */
  readonly channel?: (sessionId: string) => string;
  /** Receives errors of the transport. @default console.error */
  readonly onProblem?: ProblemReporter;
  readonly clock?: Clock;
}

/** Time between two heads. */
const headEveryMs = 15_000;

/** Number of sessions whose last number is kept; of others, the next envelope does not say which one came before. */
const mostSessions = 10_000;

/** Number of sessions above which even those with events that are not confirmed yet are forgotten. */
const mostOpenSessions = 2 * mostSessions;

/** Number of sessions that are looked at to find one to forget. */
const mostLooks = 100;

interface Channel {
  readonly name: string;
  readonly sessionId: string;
  readonly session: SentSession;
  /** Number of the last event that was sent; undefined if events were left out. */
  lastSeq: number | undefined;
  /** Highest number that was sent. */
  headSeq: number;
  agentId: string;
}

/** Sends the events of agents and sessions as envelopes over a transport. */
export class AgentEventEnvelopeAdapter implements CanBroadcastAgentEvents {
  readonly #transport: EnvelopeTransport;
  readonly #mapper: EnvelopeMapper;
  readonly #toChannel: (sessionId: string) => string;
  readonly #onProblem: ProblemReporter;
  readonly #clock: Clock;
  /** Channels by session; the one that was used least recently comes first. */
  readonly #channels = new Map<string, Channel>();
  readonly #heads: HeadTimer;

  constructor(transport: EnvelopeTransport, options: EnvelopeAdapterOptions = {}) {
    const { channel = (sessionId) => `agent.${sessionId}`, onProblem = reportToConsole, clock = systemClock, ...contents } = options;
    checkKeys('AgentEventEnvelopeAdapter', options, [...broadcastOptionNames, 'channel', 'onProblem', 'clock']);
    this.#transport = transport;
    this.#mapper = createEnvelopeMapper(contents);
    this.#toChannel = channel;
    this.#onProblem = onProblem;
    this.#clock = clock;
    this.#heads = new HeadTimer({
      clock,
      everyMs: headEveryMs,
      isListening: (name) => this.#isListening(name),
      sendHead: (name) => this.#sendHead(name),
    });
  }

  /**
   * Sends an event. Pass it on as it is: `agent.wiretap(adapter.broadcast)`, or `createSessionRuntime({ onEvent: adapter.broadcast })`. From
   * a runtime it gets the session too, and sends events that are not stored yet as provisional.
   */
  readonly broadcast: Callback<[event: BaseEvent, session?: SessionFacts], void> = (event, session) => {
    this.#guard(() => {
      const channel = this.#find(event, session?.id);
      const placed = session === undefined ? [channel.session.take(event)] : channel.session.takeFromSession(withDigest(event, session.id));
      this.#send(channel, this.#toEnvelopes(channel, placed));
      this.#noteHead(channel, event);
    });
  };

  /** Sends events that are stored, or that belong to no session; all of one channel at once. */
  readonly broadcastBatch: Callback<[events: readonly BaseEvent[]], void> = (events) => {
    this.#guard(() => {
      const batches = new Map<Channel, PlacedEvent[]>();
      for (const event of events) {
        const channel = this.#find(event, undefined);
        const batch = batches.get(channel) ?? [];
        batches.set(channel, batch);
        batch.push(channel.session.take(event));
      }
      for (const [channel, placed] of batches) {
        this.#send(channel, this.#toEnvelopes(channel, placed));
        const last = placed.at(-1);
        if (last !== undefined) this.#noteHead(channel, last.event);
      }
    });
  };

  /** Sends no more heads. */
  close(): void {
    this.#heads.close();
  }

  #find({ sessionId = '', agentId }: BaseEvent, given: string | undefined): Channel {
    const id = given ?? (sessionId || agentId);
    const known = this.#channels.get(id);
    if (known !== undefined) {
      this.#moveToEnd(known);
      return known;
    }
    const channel: Channel = {
      name: this.#toChannel(id),
      sessionId: id,
      session: new SentSession(),
      lastSeq: undefined,
      headSeq: 0,
      agentId,
    };
    this.#channels.set(id, channel);
    this.#forgetUnused();
    return channel;
  }

  #moveToEnd(channel: Channel): void {
    this.#channels.delete(channel.sessionId);
    this.#channels.set(channel.sessionId, channel);
  }

  /** Forgets the channels that were used least recently. Those with events that are not confirmed yet are kept. */
  #forgetUnused(): void {
    let looks = 0;
    for (const [id, channel] of this.#channels) {
      looks += 1;
      if (this.#channels.size <= mostSessions || looks > mostLooks) return;
      if (channel.session.hasPending && this.#channels.size <= mostOpenSessions) this.#moveToEnd(channel);
      else {
        this.#heads.forget(id);
        this.#channels.delete(id);
      }
    }
  }

  #toEnvelopes(channel: Channel, placed: readonly PlacedEvent[]): readonly Envelope[] {
    if (this.#isListening(channel.sessionId) === false) {
      channel.lastSeq = undefined;
      return [];
    }
    const [first] = placed;
    // Nearly always: a list of lists costs more than the event.
    if (placed.length === 1 && first !== undefined) return this.#toPlaced(channel, first);
    return placed.flatMap((each) => this.#toPlaced(channel, each));
  }

  #toPlaced(channel: Channel, { event, place, voids }: PlacedEvent): readonly Envelope[] {
    const { sessionId } = channel;
    const isNumbered = place.isProvisional !== true && !isPiece(event);
    // The first event of a session has none before it.
    const prevSeq = channel.lastSeq ?? (event.seq === 1 ? 0 : undefined);
    const envelopes = this.#mapper.toEnvelopes(event, isNumbered ? { ...place, sessionId, prevSeq } : { ...place, sessionId });
    if (isNumbered && envelopes.length > 0) {
      channel.lastSeq = event.seq;
      channel.headSeq = event.seq;
    }
    return voids === undefined ? envelopes : [this.#toVoid(sessionId, voids, event.at), ...envelopes];
  }

  #toVoid(sessionId: string, { lastEvent, attempt }: VoidAttempt, at: number): Envelope {
    const { agentId, executionId, stepNumber: step } = lastEvent;
    const named = readField(lastEvent, 'orchestrator');
    const orchestrator = typeof named === 'string' ? named : 'session';
    return this.#mapper.toVoid({ sessionId, agentId, executionId, orchestrator, step, attempt, at, isProvisional: true });
  }

  /** True if somebody listens to the channel of a session; undefined if the transport cannot say. */
  #isListening(sessionId: string): boolean | undefined {
    const channel = this.#channels.get(sessionId);
    if (channel === undefined) return false;
    try {
      const answer: unknown = this.#transport.isListening?.(channel.name);
      if (typeof answer === 'boolean') return answer;
      // Not in its type, but a rejection that nobody handles would end the process.
      if (isThenable(answer)) Promise.resolve(answer).catch((error: unknown) => this.#report(error));
    } catch (error) {
      this.#report(error);
    }
    return undefined;
  }

  #noteHead(channel: Channel, { type, parentAgentId }: BaseEvent): void {
    if (channel.headSeq === 0 || this.#isListening(channel.sessionId) === false) return;
    this.#heads.note(channel.sessionId, type === 'AgentFinished' && parentAgentId === null);
  }

  #sendHead(sessionId: string): void {
    const channel = this.#channels.get(sessionId);
    if (channel === undefined || channel.headSeq === 0) return;
    const { agentId, headSeq: seq } = channel;
    this.#guard(() => this.#send(channel, [this.#mapper.toHead({ sessionId, agentId, seq, at: this.#clock.now() })]));
  }

  #send({ name }: Channel, envelopes: readonly Envelope[]): void {
    if (envelopes.length === 0) return;
    const sent = this.#transport.send(name, envelopes);
    if (isThenable(sent)) Promise.resolve(sent).catch((error: unknown) => this.#report(error));
  }

  #guard(work: () => void): void {
    try {
      work();
    } catch (error) {
      this.#report(error);
    }
  }

  #report(error: unknown): void {
    reportSafely(this.#onProblem, error, 'the transport of envelopes');
  }
}
