// What a transport would send of a session, from the events of its runs and from what is stored.
import type { ChunkSource, Envelope, EventEnvelope } from '../../src/broadcasting/index.ts';
import type { EnvelopeMapper } from '../../src/broadcasting/index.ts';
import type { StoredEvent } from '../../src/sessions/index.ts';

const pieces: Readonly<Record<string, 'text' | 'reasoning'>> = { TextDelta: 'text', ReasoningDelta: 'reasoning' };

/** Events that are emitted when they are stored. */
const recordTypes = new Set([
  ...['ContinuationEvaluated', 'AgentStateUpdated', 'AgentStepCompleted', 'TokenUsageReported', 'RetryScheduled', 'AgentFailed'],
  ...['AgentFinished', 'UserMessageReceived', 'WaitResolved', 'LimitsGranted', 'CancelRequested', 'CrashLoopDetected'],
]);

/** Envelopes without a number, or that everything up to a number is stored by now. */
type Sent = readonly EventEnvelope[] | { readonly upTo: number };

export type EmittedEvent = StoredEvent & { readonly parentAgentId: string | null };

/** Notes what a reader would receive while the session runs. */
export class Wire {
  readonly #mapper: EnvelopeMapper;
  readonly #sessionId: string;
  readonly #sent: Sent[] = [];
  #deaths = 0;
  #index = 0;
  #answer = 0;
  #writer = '';
  #length = { text: 0, reasoning: 0 };
  #root: EmittedEvent | undefined;

  constructor(mapper: EnvelopeMapper, sessionId: string) {
    this.#mapper = mapper;
    this.#sessionId = sessionId;
  }

  note(event: EmittedEvent): void {
    const isRoot = event.parentAgentId === null;
    const kind = pieces[event.type];
    if (kind !== undefined) {
      this.#noteText(event, kind);
      return;
    }
    if (isRoot && event.type === 'AgentStepStarted') this.#start();
    if (isRoot) this.#root = event;
    if (event.type === 'ModelFallback') this.#writer = '';
    if (isRoot && recordTypes.has(event.type)) {
      this.#sent.push({ upTo: event.seq });
      if (event.type === 'AgentStepCompleted' || event.type === 'AgentFinished') this.#deaths = 0;
      return;
    }
    this.#index += 1;
    const place = { sessionId: this.#sessionId, attempt: this.#deaths + 1, index: this.#index, isProvisional: true };
    this.#sent.push(this.#mapper.toEnvelopes({ ...event, id: '', seq: 0 }, place));
  }

  /** The process dies in mid-step. A reader may learn of it, or not. */
  die(isAnnounced: boolean, at: number): void {
    const root = this.#root;
    if (isAnnounced && root !== undefined) this.#sent.push([this.#mapper.toVoid(this.#toSource(root, at))]);
    this.#deaths += 1;
    // Another attempt counts from the beginning, also if its step does not start again because it has waited.
    this.#start();
  }

  /** Returns everything in the order in which it is sent, given what is stored in the end. */
  read(stored: readonly EventEnvelope[]): readonly Envelope[] {
    const sent: EventEnvelope[] = [];
    let next = 0;
    for (const each of this.#sent) {
      if (!('upTo' in each)) sent.push(...each);
      else for (; next < stored.length && (stored[next]?.seq ?? 0) <= each.upTo; next += 1) sent.push(stored[next]!);
    }
    return [...sent, ...stored.slice(next)];
  }

  #start(): void {
    [this.#index, this.#answer, this.#writer] = [0, 0, ''];
  }

  #toSource(root: EmittedEvent, at: number): Omit<ChunkSource, 'kind' | 'text' | 'offset'> {
    const { agentId, executionId, stepNumber: step } = root;
    const orchestrator = 'orchestrator' in root ? root.orchestrator : 'agent';
    return { sessionId: this.#sessionId, agentId, executionId, orchestrator, step, attempt: this.#deaths + 1, at, isProvisional: true };
  }

  #noteText(event: EmittedEvent, kind: 'text' | 'reasoning'): void {
    const root = this.#root;
    const isOwn = event.parentAgentId === null || (event['participant'] !== undefined && event.parentAgentId === root?.agentId);
    if (root === undefined || !isOwn) return;
    const writer = `${event.executionId}/${event.stepNumber}`;
    if (writer !== this.#writer) {
      this.#writer = writer;
      this.#answer += 1;
      this.#length = { text: 0, reasoning: 0 };
    }
    const text = 'text' in event ? event.text : '';
    const participant = typeof event['participant'] === 'string' ? { participant: event['participant'] } : {};
    const source = { ...this.#toSource(root, event.at), ...participant, kind, text, answer: this.#answer, offset: this.#length[kind] };
    this.#length[kind] += text.length;
    this.#sent.push(this.#mapper.toChunks(source));
  }
}

/** Maps stored events to envelopes, each with the number of the one before. */
export function toStoredEnvelopes(mapper: EnvelopeMapper, events: readonly StoredEvent[], sessionId: string): readonly EventEnvelope[] {
  let prevSeq = 0;
  return events.flatMap((event) => {
    const envelopes = mapper.toEnvelopes(event, { sessionId, prevSeq });
    if (envelopes.length > 0) prevSeq = event.seq;
    return envelopes;
  });
}
