import { DamagedDataError } from '../lib/index.ts';
import { NewerSchemaError, WrongKindError } from '../serialization/index.ts';
import type { RunState, StateCodec } from '../step-by-step/index.ts';
import { ConformanceError } from './conformance-error.ts';
import type { ConformanceCase } from './conformance.ts';
import { holds, same } from './conformance.ts';

/** A codec under test, with the states of one conversation as they followed one another. */
export interface StateCodecSubject<State extends RunState> {
  readonly codec: StateCodec<State>;
  /** At least two, of which the last one has more steps than the first. */
  readonly states: readonly State[];
}

const toJson = (value: unknown): unknown => JSON.parse(JSON.stringify(value));

function getLast<State>(states: readonly State[]): State {
  const state = states.at(-1);
  holds(state !== undefined, 'give at least two states');
  return state;
}

const toPairs = <State>(states: readonly State[]): readonly (readonly [State, State])[] =>
  states.slice(1).map((after, index) => [states[index] ?? after, after]);

/** Fails the case unless `read` throws an error of the class; returns the error. */
function refuses<Thrown extends Error>(name: string, errorClass: new (...args: never) => Thrown, read: () => unknown): Thrown {
  try {
    read();
  } catch (error) {
    holds(error instanceof errorClass, `${name} was refused with another error: ${String(error)}`);
    return error;
  }
  throw new ConformanceError(`${name} was read`);
}

/** Everything that can be seen of a state from outside. */
const readAll = (state: RunState): unknown => [
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
      same(readAll(read), readAll(state), 'the state that was read');
      same(codec.encode(read), codec.encode(state), 'what is written of it');
    }
  },
  'writes plain JSON': ({ codec, states }) => {
    for (const state of states) same(codec.encode(codec.decode(toJson(codec.encode(state)))), codec.encode(state), 'the stored form');
  },
  'makes of a state and its change the state after it': ({ codec, states }) => {
    let read = codec.parse(codec.stringify(states[0] ?? getLast(states)));
    for (const [before, after] of toPairs(states)) {
      read = codec.patch(read, toJson(codec.diff(before, after)));
      same(codec.encode(read), codec.encode(after), `what the change to step ${after.stepCount} leads to`);
    }
  },
  'writes nothing where nothing has changed': ({ codec, states }) => {
    for (const state of states) same(codec.diff(state, state), {}, 'the change');
  },
  'leaves what it reads and writes as it was': ({ codec, states }) => {
    const stored = toJson(codec.encode(getLast(states)));
    const written = JSON.stringify([stored, states.map((state) => codec.stringify(state))]);
    codec.decode(stored);
    for (const [before, after] of toPairs(states)) codec.patch(before, codec.diff(before, after));
    holds(JSON.stringify([stored, states.map((state) => codec.stringify(state))]) === written, 'reading or writing has changed something');
  },
  'refuses a change of another conversation': ({ codec, states }) => {
    const state = getLast(states);
    refuses('a change between two conversations', Error, () => codec.diff(state.fork(), state));
  },
  'keeps fields at the top that it does not know': ({ codec, states }) => {
    const envelope = codec.encode(getLast(states));
    const read = codec.decode({ ...envelope, data: { ...envelope.data, fromTomorrow: { a: [1] } } });
    same(codec.encode(read).data['fromTomorrow'], { a: [1] }, 'the unknown field');
  },
  'refuses a newer schema, and says so': ({ codec, states }) => {
    const envelope = codec.encode(getLast(states));
    refuses('a newer schema', NewerSchemaError, () => codec.decode({ ...envelope, schema: envelope.schema + 1 }));
  },
  'refuses another kind': ({ codec, states }) => {
    refuses('another kind', WrongKindError, () => codec.decode({ ...codec.encode(getLast(states)), kind: 'shopping-list' }));
  },
  'refuses what was cut off, with its place': ({ codec, states }) => {
    const text = codec.stringify(getLast(states));
    for (const part of [0.1, 0.5, 0.9])
      refuses('a text that was cut off', DamagedDataError, () => codec.parse(text.slice(0, Math.floor(text.length * part))));
    const envelope = codec.encode(getLast(states));
    for (const field of ['info', 'agentId', 'store', 'metadata', 'execution', 'past', 'lastSeq']) {
      const { [field]: _, ...data } = envelope.data;
      const { path } = refuses(`a state without its ${field}`, DamagedDataError, () => codec.decode({ ...envelope, data }));
      holds(path.includes(field), `a state without its ${field} was refused at "${path}"`);
    }
  },
};

/** Promises that every codec of states must keep. `make` returns a fresh subject for each case. */
export function stateCodecConformance<State extends RunState>(
  make: () => StateCodecSubject<State> | Promise<StateCodecSubject<State>>,
): readonly ConformanceCase[] {
  return Object.entries(checks).map(([name, check]) => ({
    name,
    run: async () => {
      const subject = await make();
      const [first] = subject.states;
      holds(
        first !== undefined && getLast(subject.states).session.stepCount > first.session.stepCount,
        'give at least two states, of which the last has more steps than the first',
      );
      check(subject);
    },
  }));
}
