import type { Json } from '../lib/index.ts';
import { DamagedDataError, stableStringify } from '../lib/index.ts';
import { NewerSchemaError, WrongKindError } from '../serialization/index.ts';
import type { RunState, StateCodec } from '../step-by-step/index.ts';
import type { ConformanceCase } from './conformance.ts';
import { holds, same } from './conformance.ts';

/** A codec under test, with the states of one conversation as they followed one another. */
export interface StateCodecSubject<State extends RunState> {
  readonly codec: StateCodec<State>;
  /** At least two, of which the last one has more steps than the first. */
  readonly states: readonly State[];
}

const plain = (value: unknown): Json => JSON.parse(JSON.stringify(value)) as Json;

/** As text in which the order of keys does not matter. */
const textOf = (value: unknown): string => stableStringify(plain(value));

interface Envelope {
  readonly kind: string;
  readonly schema: number;
  readonly data: Readonly<Record<string, Json>>;
}

// Holds: this is what a codec writes.
const envelopeOf = <State extends RunState>({ codec, states }: StateCodecSubject<State>): Envelope =>
  JSON.parse(codec.stringify(last(states))) as Envelope;

function last<State>(states: readonly State[]): State {
  const state = states.at(-1);
  holds(state !== undefined, 'give at least two states');
  return state;
}

function refuses(read: () => unknown, isRight: (error: unknown) => boolean, what: string): void {
  try {
    read();
  } catch (error) {
    holds(isRight(error), `${what} was refused with another error: ${String(error)}`);
    return;
  }
  holds(false, `${what} was read`);
}

/** What can be seen of a state from outside. */
const seen = (state: RunState): unknown => [
  state.status,
  state.stopReason,
  state.text,
  state.usage,
  state.cost,
  state.metadata,
  state.waitingFor,
  state.messages.toJSON(),
  state.session.executions.map(({ results }) =>
    results.toArray().map(({ outcome, timing, handling }) => [outcome.toJSON(), timing, handling]),
  ),
  state.steps,
  state.explain(),
];

type Check = <State extends RunState>(subject: StateCodecSubject<State>) => void;

const checks: Readonly<Record<string, Check>> = {
  'reads what it wrote as the same state': ({ codec, states }) => {
    for (const state of states) {
      const read = codec.parse(codec.stringify(state));
      same(textOf(seen(read)), textOf(seen(state)), 'the state that was read');
      same(textOf(codec.encode(read)), textOf(codec.encode(state)), 'what is written of it');
    }
  },
  'writes plain JSON': ({ codec, states }) => {
    for (const state of states)
      same(textOf(codec.encode(codec.decode(plain(codec.encode(state))))), textOf(codec.encode(state)), 'the stored form');
  },
  'makes of a state and its change the state after it': ({ codec, states }) => {
    let read = codec.parse(codec.stringify(states[0] ?? last(states)));
    for (const [index, after] of states.slice(1).entries()) {
      const before = states[index] ?? after;
      read = codec.patch(read, plain(codec.diff(before, after)));
      same(textOf(codec.encode(read)), textOf(codec.encode(after)), `what change ${index + 1} leads to`);
    }
  },
  'writes nothing where nothing has changed': ({ codec, states }) => {
    for (const state of states) same(codec.diff(state, state), {}, 'the change');
  },
  'leaves what it reads and writes as it was': ({ codec, states }) => {
    const stored = plain(codec.encode(last(states)));
    const before = JSON.stringify([stored, states.map((state) => codec.stringify(state))]);
    codec.decode(stored);
    for (const [index, after] of states.slice(1).entries()) codec.patch(states[index] ?? after, codec.diff(states[index] ?? after, after));
    holds(JSON.stringify([stored, states.map((state) => codec.stringify(state))]) === before, 'reading or writing has changed something');
  },
  'refuses a change of another conversation': ({ codec, states }) => {
    const other = last(states).fork();
    refuses(
      () => codec.diff(other, last(states)),
      () => true,
      'a change between two conversations',
    );
  },
  'keeps fields at the top that it does not know': (subject) => {
    const { codec } = subject;
    const envelope = envelopeOf(subject);
    const read = codec.decode({ ...envelope, data: { ...envelope.data, fromTomorrow: { a: [1] } } });
    same((plain(codec.encode(read)) as unknown as Envelope).data['fromTomorrow'], { a: [1] }, 'the unknown field');
  },
  'refuses a newer schema, and says so': (subject) => {
    const envelope = envelopeOf(subject);
    refuses(
      () => subject.codec.decode({ ...envelope, schema: envelope.schema + 1 }),
      (error) => error instanceof NewerSchemaError,
      'a newer schema',
    );
  },
  'refuses another kind': (subject) => {
    refuses(
      () => subject.codec.decode({ ...envelopeOf(subject), kind: 'shopping-list' }),
      (error) => error instanceof WrongKindError,
      'another kind',
    );
  },
  'refuses what was cut off, with its place': (subject) => {
    const text = JSON.stringify(envelopeOf(subject));
    for (const part of [0.1, 0.5, 0.9])
      refuses(
        () => subject.codec.parse(text.slice(0, Math.floor(text.length * part))),
        (error) => error instanceof DamagedDataError,
        'a text that was cut off',
      );
    const envelope = envelopeOf(subject);
    for (const field of ['info', 'agentId', 'store', 'metadata', 'execution', 'past', 'lastSeq']) {
      const { [field]: _, ...data } = envelope.data;
      refuses(
        () => subject.codec.decode({ ...envelope, data }),
        (error) => error instanceof DamagedDataError && error.path.includes(field),
        `a state without its ${field}`,
      );
    }
  },
};

/** What every codec of states must do. `make` gives a fresh subject for each case. */
export function stateCodecConformance<State extends RunState>(
  make: () => StateCodecSubject<State> | Promise<StateCodecSubject<State>>,
): readonly ConformanceCase[] {
  return Object.entries(checks).map(([name, check]) => ({
    name,
    run: async () => {
      const subject = await make();
      const [first] = subject.states;
      holds(
        first !== undefined && last(subject.states).session.stepCount > first.session.stepCount,
        'give at least two states, of which the last has more steps than the first',
      );
      check(subject);
    },
  }));
}
