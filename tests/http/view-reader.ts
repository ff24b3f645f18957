// A small page: it reads server-sent events over a socket and folds envelopes into what a person would see.
import type { Envelope, EventEnvelope } from '../../src/broadcasting/index.ts';

/** Text of the open step, by execution, step, attempt and kind. */
interface OpenText {
  readonly execution: string;
  readonly step: number;
  readonly attempt: number;
  readonly answer: number;
  readonly kind: string;
  text: string;
}

const readText = (value: unknown): string => (typeof value === 'string' ? value : '');

const isEvent = (envelope: Envelope): envelope is EventEnvelope => envelope.event !== 'agent.head';

/** Folds envelopes as they come, in whatever order and however often. */
export class View {
  readonly #stored = new Map<string, EventEnvelope>();
  #open: OpenText[] = [];
  /** Gaps, doubles and other things that a reader must never see. */
  readonly faults: string[] = [];
  /** Number of the last event that is here whole. */
  lastSeq = 0;

  take(envelope: Envelope): void {
    if (!isEvent(envelope)) return;
    if (envelope.seq !== undefined) this.#takeStored(envelope, envelope.seq);
    else if (envelope.event === 'agent.stream.chunk') this.#takeChunk(envelope);
    if (envelope.event === 'agent.stream.void') this.#dropOpen(envelope);
  }

  /** Stored envelopes in order, without what depends on the moment at which a reader came. */
  get stored(): readonly object[] {
    return [...this.#stored.values()]
      .sort((one, other) => (one.seq ?? 0) - (other.seq ?? 0) || one.part - other.part)
      .map(({ attempt: _attempt, index: _index, ...rest }) => {
        const { attempt: _inner, ...data } = rest.data;
        return { ...rest, data };
      });
  }

  /** Words of the assistant: those that are stored, then those of the open step. */
  get text(): string {
    const said = [...this.#stored.values()].filter(({ event, data }) => event === 'agent.message' && data['role'] === 'assistant');
    return [...said.map(({ data }) => readText(data['text'])), this.openText].join('');
  }

  get openText(): string {
    return this.#open.map(({ kind, text }) => (kind === 'text' ? text : '')).join('');
  }

  #takeStored(envelope: EventEnvelope, seq: number): void {
    const key = `${seq}/${envelope.part}`;
    const before = this.#stored.get(key);
    if (before === undefined && seq < this.lastSeq) this.faults.push(`event ${key} came after ${this.lastSeq}`);
    if (before === undefined && (envelope.prev_seq ?? 0) > this.lastSeq) this.faults.push(`event ${key} is behind a gap: ${this.lastSeq}`);
    this.#stored.set(key, envelope);
    const { event, data, execution_id } = envelope;
    const isWhole = typeof data['text'] === 'string' && data['role'] === 'assistant';
    if (event === 'agent.message' && isWhole && !readText(data['text']).startsWith(this.openText))
      this.faults.push(`"${this.openText}" was shown of "${readText(data['text'])}"`);
    if (event === 'agent.step.completed' || event === 'agent.status' || event === 'agent.message')
      this.#open = this.#open.filter(({ execution }) => execution !== execution_id);
  }

  /** Called when an event has come whole. */
  confirm(seq: number): void {
    this.lastSeq = Math.max(this.lastSeq, seq);
  }

  #takeChunk({ execution_id: execution, data, attempt = 1 }: EventEnvelope): void {
    const answer = Number(data['answer'] ?? 1);
    const kind = data['reasoning'] === undefined ? 'text' : 'reasoning';
    const [step, offset, text] = [Number(data['step_number']), Number(data['offset']), readText(data['text'] ?? data['reasoning'])];
    const isSame = (each: OpenText): boolean =>
      each.execution === execution && each.step === step && each.attempt === attempt && each.answer === answer && each.kind === kind;
    // A later attempt, or a later answer, voids the earlier ones.
    this.#open = this.#open.filter((each) => each.attempt > attempt || (each.attempt === attempt && each.answer >= answer));
    const open = this.#open.find(isSame);
    if (offset !== (open?.text.length ?? 0)) this.faults.push(`chunk "${text}" at ${offset}, after ${open?.text.length ?? 0} characters`);
    if (open === undefined) this.#open.push({ execution, step, attempt, answer, kind, text });
    else open.text += text;
  }

  #dropOpen({ execution_id, data }: EventEnvelope): void {
    const upTo = Number(data['attempt'] ?? Infinity);
    const answer = Number(data['answer'] ?? Infinity);
    const isVoid = (each: OpenText): boolean => each.attempt < upTo || (each.attempt === upTo && each.answer <= answer);
    this.#open = this.#open.filter((each) => each.execution !== execution_id || !isVoid(each));
  }

  /** A reader that reconnects gets the open step from its beginning. */
  reconnect(): void {
    this.#open = [];
  }
}

export interface ReadOptions {
  readonly headers?: Readonly<Record<string, string>>;
  readonly signal?: AbortSignal;
  /** Called after each envelope; reading ends if it returns true. */
  readonly isDone?: (view: View, envelope: Envelope) => boolean;
}

/** Reads a stream into a view until it ends, or until somebody says that it is done. Returns true if it is done. */
export async function readInto(view: View, url: string, { headers = {}, signal, isDone = () => false }: ReadOptions): Promise<boolean> {
  view.reconnect();
  const resume = view.lastSeq === 0 ? {} : { 'last-event-id': String(view.lastSeq) };
  const response = await fetch(url, { headers: { accept: 'text/event-stream', ...headers, ...resume }, ...(signal && { signal }) });
  if (response.status !== 200 || response.body === null) throw new Error(`${response.status} ${await response.text()}`);
  let rest = '';
  const decoder = new TextDecoder();
  // Holds: the body of a response is bytes.
  for await (const bytes of response.body as ReadableStream<Uint8Array>) {
    rest += decoder.decode(bytes, { stream: true });
    for (let end = rest.indexOf('\n\n'); end !== -1; end = rest.indexOf('\n\n')) {
      const frame = rest.slice(0, end).split('\n');
      rest = rest.slice(end + 2);
      const data = frame.find((line) => line.startsWith('data: '));
      if (data === undefined) continue;
      const envelope = JSON.parse(data.slice(6)) as Envelope;
      view.take(envelope);
      const id = frame.find((line) => line.startsWith('id: '));
      if (id !== undefined) view.confirm(Number(id.slice(4)));
      if (isDone(view, envelope)) {
        await response.body.cancel().catch(() => undefined);
        return true;
      }
    }
  }
  return false;
}

/** True for the envelope that ends an execution. */
export const isRest = (_view: View, envelope: Envelope): boolean =>
  isEvent(envelope) && envelope.event === 'agent.status' && envelope.seq !== undefined && envelope.data['status'] !== 'in_progress';
