// Runtimes that break a promise, one for each case of the conformance suite of session runtimes.
import { InvalidArgumentError } from '../../src/lib/index.ts';
import type { FeedItem, OpenStepItem, SessionResult, SessionRuntime } from '../../src/sessions/index.ts';
import type { RuntimeWorld } from '../../src/testing/index.ts';

/** Changes a world for the worse. */
export type Breaking = (world: RuntimeWorld) => Partial<RuntimeWorld>;

const withRuntime =
  (change: (runtime: SessionRuntime) => Partial<SessionRuntime>): Breaking =>
  (world) => ({
    get runtime() {
      const { runtime } = world;
      return { ...runtime, ...change(runtime) };
    },
  });

/** Changes everything that a feed has. */
const changeFeed = (change: (items: readonly FeedItem[]) => readonly FeedItem[]): Breaking =>
  withRuntime((runtime) => ({
    feed: async function* (options) {
      const items: FeedItem[] = [];
      for await (const item of runtime.feed(options)) items.push(item);
      yield* change(items);
    },
  }));

/** Everything that begins with this happens twice. */
const doTwice =
  (prefix: string): Breaking =>
  (world) => ({ records: async () => (await world.records()).flatMap((line) => (line.startsWith(prefix) ? [line, line] : [line])) });

/** Something happens that must not. */
const alsoRecord =
  (line: string): Breaking =>
  (world) => ({ records: async () => [...(await world.records()), line] });

const changeResult = (method: 'send' | 'cancel' | 'approve' | 'grant' | 'resume', change: Partial<SessionResult>): Breaking =>
  withRuntime((runtime) => ({
    [method]: async (...args: readonly unknown[]) => {
      // Holds: all of them return such a result, whatever they take.
      const result = (await Reflect.apply(runtime[method], runtime, args)) as SessionResult;
      return { ...result, ...change };
    },
  }));

/** Gives each request an id of its own, so that none is known to be repeated. */
const forgetRequests = withRuntime((runtime) => ({
  send: (id, content, { requestId: _, ...options }) => runtime.send(id, content, options),
  approve: (id, wait, { requestId: _, ...options }) => runtime.approve(id, wait, options),
  create: (session, { requestId: _, ...options }) => runtime.create(session, options),
  fork: (id, at, { requestId: _, ...options }) => runtime.fork(id, at, options),
}));

const foreignError = withRuntime((runtime) => ({
  // An error of another class, as one that crossed a wire without its code.
  approve: (...args) => runtime.approve(...args).catch((error: unknown) => Promise.reject(new Error(String(error)))),
  send: (...args) => runtime.send(...args).catch((error: unknown) => Promise.reject(new Error(String(error)))),
  create: (...args) => runtime.create(...args).catch((error: unknown) => Promise.reject(new Error(String(error)))),
  fork: (...args) => runtime.fork(...args).catch((error: unknown) => Promise.reject(new Error(String(error)))),
  reject: (...args) => runtime.reject(...args).catch((error: unknown) => Promise.reject(new Error(String(error)))),
}));

const skipEvents = (isLeftOut: (seq: number) => boolean): Breaking =>
  withRuntime((runtime) => ({
    events: async function* (...args) {
      for await (const event of runtime.events(...args)) if (!isLeftOut(event.seq)) yield event;
    },
  }));

const doubleEvents = withRuntime((runtime) => ({
  events: async function* (id, options) {
    for await (const event of runtime.events(id, options)) {
      yield event;
      if (options?.follow === true && event.seq === 3) yield event;
    }
  },
}));

type Piece = Extract<OpenStepItem, { readonly type: 'text' }>;

const changeText = (change: (piece: Piece) => Partial<Piece>): Breaking =>
  withRuntime((runtime) => ({
    openStep: async function* (...args) {
      for await (const item of runtime.openStep(...args)) yield item.type === 'text' ? { ...item, ...change(item) } : item;
    },
  }));

const ignoreFilter = withRuntime((runtime) => ({
  list: ({ limit, cursor } = {}) => runtime.list({ limit: limit ?? 100, ...(cursor !== undefined && { cursor }) }),
}));

const leaveAlone = withRuntime((runtime) => ({
  delete: async () => undefined,
  deleteAll: async () => 3,
  cancelAll: async () => 2,
  hold: async (scope, reason, options) => {
    const hold = await runtime.hold(scope, reason, options);
    await runtime.release(hold.id);
    return hold;
  },
}));

/** Does not know a point before the first step. */
const forkAfterFirstStep = withRuntime((runtime) => ({
  fork: (id, at, options) => runtime.fork(id, { ...at, step: 1 }, options),
}));

/** A broken runtime for each case, by the name of the case. */
export const broken: Readonly<Record<string, Breaking>> = {
  'creates a session in which nothing was said yet': withRuntime((runtime) => ({
    create: ({ owner: _, ...wishes }, options) => runtime.create(wishes, options),
  })),
  'settles a message with the execution that read it': changeResult('send', { execution: 1 }),
  'stores a message that nobody waits for': withRuntime((runtime) => ({ get: async (id) => ({ ...(await runtime.get(id)), text: '' }) })),
  'hides the state of sessions and results from JSON, and explains both': withRuntime((runtime) => ({
    get: async (id) => {
      const session = await runtime.get(id);
      return { ...session, state: session.state };
    },
  })),
  'lists actions in their order, with author and time': withRuntime((runtime) => ({
    actions: async (id) => (await runtime.actions(id)).toReversed(),
  })),
  'resumes nothing in a session that has ended': doTwice('note'),
  'forks a session after a step, and leaves the source as it is': withRuntime((runtime) => ({
    fork: (id, at, options) => runtime.fork(id, { ...at, step: 2 }, options),
  })),
  'forks a session before the message of an execution, and continues with another one': forkAfterFirstStep,
  'forks a session before its first message into an empty one': forkAfterFirstStep,
  'forks a session before a message that gave up an approval, which can then be answered in the fork': forkAfterFirstStep,
  'forks a session before a message whose call was approved since': forkAfterFirstStep,
  'finds sessions by every filter': ignoreFilter,
  'lists newest first, in pages without gaps': withRuntime((runtime) => ({
    list: async (query) => {
      const { sessions, cursor } = await runtime.list(query);
      return { sessions: sessions.slice(0, 2), ...(cursor !== undefined && { cursor }) };
    },
  })),
  'refuses a second session with the same id with session-conflict': foreignError,
  'refuses an agent that it does not have with unknown-agent': foreignError,
  'refuses an answer to nothing that was ever waited for with not-waiting': foreignError,
  'refuses an answer to something that is over with late-answer': foreignError,
  'refuses a second answer while the first is worked on with already-answered': foreignError,
  'refuses a digest that was never given out with forged-approval': withRuntime((runtime) => ({
    approve: async (id, wait, options) => runtime.approve(id, (await runtime.get(id)).waitingFor[0] ?? wait, options),
  })),
  'refuses an approval of arguments that have changed since with stale-approval': withRuntime((runtime) => ({
    approve: async (id, wait, options) => runtime.approve(id, (await runtime.get(id)).waitingFor[0] ?? wait, options),
  })),
  'refuses an approval of another session with foreign-approval': foreignError,
  'refuses a fork after a step that was never recorded with unknown-step': foreignError,
  'refuses edited arguments that do not fit with invalid-argument, and the call still waits': withRuntime((runtime) => ({
    approve: (id, wait, { args: _, ...options }) => runtime.approve(id, wait, options),
  })),
  'refuses arguments that make no sense with invalid-argument': withRuntime((runtime) => ({
    list: async (query) => runtime.list({ ...query, limit: 5 }),
  })),
  'refuses to continue with another release of its agent with agent-changed, if that is the rule': (world) => ({
    restart: () => world.restart!({}),
  }),
  'refuses actions on a session whose step ends the process each time with crash-loop, until it is resumed': foreignError,
  'refuses actions once it is drained with runtime-closed': () => ({ leave: async () => undefined }),
  'returns the result of the first one if the same send request is repeated, and refuses its id for anything else': forgetRequests,
  'returns the result of the first one if the same approve request is repeated, and refuses its id for anything else': forgetRequests,
  'returns the result of the first one if the same cancel request is repeated, and refuses its id for anything else': changeResult(
    'cancel',
    { isRepeated: true },
  ),
  'returns the result of the first one if the same grant request is repeated, and refuses its id for anything else': changeResult('grant', {
    isRepeated: true,
  }),
  'returns the result of the first one if the same resume request is repeated, and refuses its id for anything else': changeResult(
    'resume',
    { isRepeated: true },
  ),
  'creates one session if the same request is repeated': forgetRequests,
  'creates one fork if the same request is repeated': forgetRequests,
  'applies a message once that is sent 20 times at once': forgetRequests,
  'applies an approval once that is given 20 times at once': forgetRequests,
  'keeps 20 different messages that are sent at once': withRuntime((runtime) => ({
    send: (id, content, options) => runtime.send(id, content === 'say 7' ? 'say 8' : content, options),
  })),
  'returns the result of a request that is repeated after the worker was killed': forgetRequests,
  'lets a message join the execution that runs at the next boundary': changeResult('send', { text: 'One' }),
  'interrupts a tool within a second if the session is cancelled, and gives the reason': withRuntime((runtime) => ({
    cancel: async (...args) => {
      await new Promise((resolve) => setTimeout(resolve, 1100));
      return runtime.cancel(...args);
    },
  })),
  'interrupts a model within a second if the session is cancelled': changeResult('cancel', {
    status: 'completed',
  }),
  'continues with a new execution after it was cancelled': withRuntime((runtime) => ({
    cancel: (id, _reason, options) => runtime.resume(id, options),
  })),
  'keeps an execution as it is that is cancelled after its end': changeResult('cancel', { status: 'stopped' }),
  'raises a limit while it runs': withRuntime((runtime) => ({
    grant: (id, _, { until: _until, ...options }) => runtime.resume(id, { ...options, until: 'accepted' }),
  })),
  'waits for a grant at a limit, and continues with it': withRuntime((runtime) => ({
    grant: (id, _, options) => runtime.resume(id, options),
  })),
  'hands the answer to a client tool to the model': withRuntime((runtime) => ({
    answer: (id, wait, { value: _, ...options }) => runtime.answer(id, wait, { ...options, value: 'red' }),
  })),
  'runs many sessions side by side': withRuntime((runtime) => ({ list: (query) => runtime.list({ ...query, limit: 9 }) })),
  'runs a call once after it was approved with the digest that was shown': doTwice('pay'),
  'runs an approved call with edited arguments': withRuntime((runtime) => ({
    approve: (id, wait, { args: _, ...options }) => runtime.approve(id, wait, options),
  })),
  'does not run a rejected call, and the model reads the reason': withRuntime((runtime) => ({
    reject: (id, wait, { reason: _, ...options }) => runtime.reject(id, wait, options),
  })),
  'lets one of two people decide': withRuntime((runtime) => ({
    reject: (id, wait, options) => runtime.reject(id, wait, options).catch(() => runtime.resume(id, { by: options.by })),
  })),
  'waits again for the second of two calls': doTwice('pay 2'),
  'rejects an approval that nobody gives in time': alsoRecord('pay 1 key'),
  'takes an approval after the worker was killed and started again': doTwice('pay'),
  'does not run an approved call again that was cut off': doTwice('pay'),
  'resumes a session that was cut off, and does not repeat recorded steps': doTwice('note'),
  'runs no call twice that must run once if four calls of a step are cut off': doTwice('note 3'),
  'finishes every session of four calls a step through three kills at any moment': doTwice('note 324'),
  'applies a message that came before the kill after it': withRuntime((runtime) => ({
    send: (id, content, options) => runtime.send(id, content === 'say Two' ? 'say Three' : content, options),
  })),
  'stays cancelled if the worker is killed after the cancel': alsoRecord('note 2 key'),
  'numbers the events of a session from 1 without a gap': skipEvents((seq) => seq === 4),
  'reads events after a number': withRuntime((runtime) => ({
    events: (id, { fromSeq: _, ...options } = {}) => runtime.events(id, options),
  })),
  'follows events from the start while the session runs': doubleEvents,
  'serves several followers, and goes on with the others if one leaves': doubleEvents,
  'ends a follower that breaks off its loop': skipEvents((seq) => seq === 1),
  'shows with an event the digest that approves its call': skipEvents((seq) => seq > 2),
  'replaces secrets in events if that is asked for, and keeps what is stored': withRuntime((runtime) => ({
    events: (id, { redact: _, ...options } = {}) => runtime.events(id, options),
  })),
  'deletes a session for good': leaveAlone,
  'deletes a session while it runs, and nothing more of it happens': leaveAlone,
  'deletes a session that waits': leaveAlone,
  'may be asked twice to delete a session': leaveAlone,
  'keeps a fork whole after its source is deleted': withRuntime((runtime) => ({
    delete: (id, options) => runtime.delete(id, { ...options, forks: true }),
  })),
  'deletes a session with its forks, and the forks of those, if that is asked for': withRuntime((runtime) => ({
    delete: (id, options) => runtime.delete(id, { ...options, forks: false }),
  })),
  'deletes all sessions of an owner, and returns their number': leaveAlone,
  'deletes all sessions that are old enough': leaveAlone,
  'starts no model call while a hold lasts, and continues when it is released': leaveAlone,
  'lets an open step end, and starts no further one': leaveAlone,
  'holds the sessions of a tenant or an agent, and no others': alsoRecord('model say One'),
  'keeps a hold after the worker was killed': leaveAlone,
  'cancels all matching sessions that run or wait, and returns their number': withRuntime((runtime) => ({
    cancelAll: async (...args) => (await runtime.cancelAll(...args)) + 1,
  })),
  'reports its health': withRuntime((runtime) => ({ health: async () => ({ ...(await runtime.health()), isDraining: true }) })),
  'lets the open step end if the worker is drained, and leaves the rest to the next one': (world) => ({ drain: () => world.kill!() }),
  'gives each session an id of its own if none is asked for': withRuntime((runtime) => ({
    create: (session, options) => runtime.create(session, { ...options, requestId: 'same' }),
  })),
  'resumes a session that waits for a provider at once': changeResult('resume', { execution: 2 }),
  'refuses every use of a session that does not exist with unknown-session': withRuntime(() => ({ actions: async () => [] })),
  'returns the result of the first one if the same reject request is repeated, and refuses its id for anything else': withRuntime(
    (runtime) => ({
      reject: (id, wait, options) => runtime.reject(id, wait, { ...options, reason: 'no' }),
    }),
  ),
  'returns the result of the first one if the same answer request is repeated, and refuses its id for anything else': withRuntime(
    (runtime) => ({
      answer: (id, wait, options) => runtime.answer(id, wait, { ...options, value: 'blue' }),
    }),
  ),
  'stores what people do as events': withRuntime((runtime) => ({
    reject: (id, wait, options) => runtime.reject(id, wait, { ...options, by: { id: 'ann', kind: 'user' } }),
  })),
  'ends a follower whose session is deleted, and refuses new ones': withRuntime(() => ({
    delete: () => Promise.reject(new InvalidArgumentError('no')),
  })),
  'reads the text that an open step has written so far': changeText(({ offset }) => ({ offset: offset + 1 })),
  'follows the text of an open step until it is recorded': changeText(({ offset }) => ({ offset: offset + 1 })),
  'follows the text of later steps too': changeText(({ offset }) => ({ offset: offset + 1 })),
  'queues a message behind a run, if asked to': withRuntime((runtime) => ({
    send: (id, content, { whileRunning: _, ...options }) => runtime.send(id, content, options),
  })),
  'interrupts a run for a message, if asked to': withRuntime((runtime) => ({
    send: async (id, content, options) => ({ ...(await runtime.send(id, content, options)), execution: 1 }),
  })),
  'queues a message behind a wait, if asked to, or refuses it': withRuntime((runtime) => ({
    send: (id, content, { whileWaiting: _, ...options }) => runtime.send(id, content, options),
  })),
  'refuses a message to a session that waits for a grant': withRuntime((runtime) => ({
    grant: (id, _amounts, options) => runtime.cancel(id, 'no', options),
  })),
  'lists what waits for somebody': withRuntime((runtime) => ({ waits: () => runtime.waits() })),
  'reads the events of an open step before they are stored': withRuntime((runtime) => ({
    openStep: async function* (...args) {
      for await (const item of runtime.openStep(...args)) if (item.type !== 'event' || item.event.type !== 'ToolCallStarted') yield item;
    },
  })),
  'says that a text is void after the worker was killed, and follows the next attempt': changeText(({ offset }) => ({
    offset: offset + 1,
  })),
  'removes the content of a message from everything that is stored': withRuntime(() => ({ eraseMessage: async () => undefined })),
  'exports everything of matching sessions as plain data': withRuntime((runtime) => ({ export: () => runtime.export({ tag: 'a' }) })),
  'cancels a session that is held at once': changeResult('cancel', { stopReason: 'completed' }),
  'does not count the time of a hold': changeResult('send', { stopReason: 'time_limit' }),
  'does not count the time of a hold that comes between two steps': changeResult('send', {
    stopReason: 'time_limit',
  }),
  'follows events through a kill without a gap or a double': doubleEvents,
  'feeds the events of all sessions, those of each in their order': changeFeed((items) => items.toReversed()),
  'feeds what comes after a cursor, without a gap or a double': withRuntime((runtime) => ({
    feed: ({ after: _, ...options } = {}) => runtime.feed(options),
  })),
  'feeds one tenant, and events of the types that are asked for': withRuntime((runtime) => ({
    feed: ({ tenant: _, ...options } = {}) => runtime.feed(options),
  })),
  'feeds nothing that a fork has copied, and nothing of a deleted session': changeFeed((items) => [
    ...items,
    ...items.filter(({ sessionId }) => sessionId === 'one').map((item) => ({ ...item, sessionId: 'fork' })),
  ]),
  'follows the feed through a kill without a gap or a double': withRuntime((runtime) => ({
    feed: async function* (options = {}) {
      for await (const item of runtime.feed(options)) {
        yield item;
        if (options.follow === true && item.event.seq === 3) yield item;
      }
    },
  })),
  'delivers every event in its order, and again what was not accepted': withRuntime((runtime) => ({
    deliver: (name, send, options) =>
      runtime.deliver(name, async (delivery, more) => Promise.resolve(send(delivery, more)).catch(() => undefined), options),
  })),
  'continues a session in another worker if its own is killed': doTwice('note 1'),
  'hands a session over to another worker if its own is drained, with the messages that came': doTwice('note 2'),
  'runs each call once, whichever of several workers has the session': doTwice('note 7'),
  'cancels a session, whichever of several workers has it': changeResult('cancel', { stopReason: 'completed' }),
  'reports that no worker runs': () => ({ drain: async () => undefined }),
  'applies an approval that was given while no worker ran': doTwice('pay'),
  'applies edited arguments that were given while no worker ran': withRuntime((runtime) => ({
    approve: (id, wait, { args: _, ...options }) => runtime.approve(id, wait, options),
  })),
  'applies a rejection that was given while no worker ran': withRuntime((runtime) => ({
    reject: (id, wait, { reason: _, ...options }) => runtime.reject(id, wait, options),
  })),
  'shows an accepted action in get() and actions() while no worker runs': withRuntime((runtime) => ({
    actions: async (id) => (await runtime.actions(id)).filter(({ entry }) => entry !== undefined),
  })),
  'applies waiting actions in their order': withRuntime((runtime) => ({
    send: (id, content, options) => runtime.send(id, content === 'say Two' ? 'say Three' : content, options),
  })),
  'applies a waiting action once that was asked for twice': forgetRequests,
  'creates a session that was asked for while no worker ran': withRuntime((runtime) => ({
    create: ({ owner: _, ...wishes }, options) => runtime.create(wishes, options),
  })),
  'tells the one who asked that a waiting action was refused': foreignError,
  'cancels a session that was to be resumed': alsoRecord('note 2 key'),
  'reads sessions, lists and events while no worker runs': (world) => {
    let isKilled = false;
    return {
      kill: async () => {
        isKilled = true;
        await world.kill!();
      },
      ...withRuntime((runtime) => ({ actions: async (id) => (isKilled ? [] : runtime.actions(id)) }))(world),
    };
  },
};
