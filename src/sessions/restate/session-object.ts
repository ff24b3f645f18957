// Sessions that Restate runs: an object per session, whose handlers are called one after the other.
// Owns:     when a session is run: after each action, again until it rests, and when a wait expires or a provider is tried again.
// Does not: keep anything of a session. Its log is in the store of the runtime, which also refuses whoever was replaced.
// Object-1. An action is posted under a request id that its journal keeps: a handler that is repeated acts once.
// Object-2. After an action there is always a call of `run` to come, until nothing is left to do.
// Object-3. While a delayed call is to come, another is made only if it is to come earlier.
import type { ObjectContext, ObjectOptions, ObjectSharedContext, VirtualObjectDefinition } from '@restatedev/restate-sdk';
import { handlers, object, rpc, TerminalError } from '@restatedev/restate-sdk';
import { InvalidArgumentError, isRecord, omitUndefined, SteplineError } from '../../lib/index.ts';
import type { ActionOptions, EmbeddedRuntime, NewSession, Session, SessionResult } from '../index.ts';

/** Options of createSessionObject(). */
export interface SessionObjectOptions {
  /** Runtime with the agents. With role `client`, it runs nothing but what Restate asks for. */
  readonly runtime: EmbeddedRuntime;
  /** Name of the object in Restate. @default 'sessions' */
  readonly name?: string;
  /** Time after which a call leaves the session, between two steps, to the next call. @default 60 s */
  readonly untilMs?: number;
  /** Delay before a session is tried again that was left, is held, or is run by another worker. @default 1 s */
  readonly retryMs?: number;
  /** Options of the object, such as retries and timeouts. */
  readonly options?: ObjectOptions;
}

type Method = 'send' | 'resume' | 'cancel' | 'approve' | 'reject' | 'answer' | 'grant';

type Argument<Name extends Method, Place extends 1 | 2> = NonNullable<Parameters<EmbeddedRuntime[Name]>[Place]>;

/** Options of an action, as the runtime takes them. Handlers never wait for the end of an execution. */
type Options<Given> = Omit<Given, 'until'>;

/** Input of the handlers that act: the arguments of the method of the runtime, in one object. */
interface Inputs {
  readonly send: Options<Argument<'send', 2>> & { readonly content: Argument<'send', 1> };
  readonly resume: Options<ActionOptions>;
  readonly cancel: Options<ActionOptions> & { readonly reason: string };
  readonly approve: Options<Argument<'approve', 2>> & { readonly wait: Argument<'approve', 1> };
  readonly reject: Options<Argument<'reject', 2>> & { readonly wait: Argument<'reject', 1> };
  readonly answer: Options<Argument<'answer', 2>> & { readonly wait: Argument<'answer', 1> };
  readonly grant: Options<ActionOptions> & { readonly amounts: Argument<'grant', 1> };
}

/** An action that is stored. It may still be refused when it is applied: the session's actions say so. */
type Accepted = Pick<SessionResult, 'execution' | 'status' | 'isRepeated' | 'isPending'>;

/** A session as JSON. */
type SessionView = Omit<Session, 'state' | 'worker' | 'explain'>;

/** Handlers of the object of a session; its key is the session's id. */
export type SessionObject = {
  readonly [Name in Method]: (ctx: ObjectSharedContext, input: Inputs[Name]) => Promise<Accepted>;
} & {
  /** Creates the session. */
  readonly create: (ctx: ObjectSharedContext, input: Options<ActionOptions> & Omit<NewSession, 'id'>) => Promise<void>;
  readonly get: (ctx: ObjectSharedContext) => Promise<SessionView>;
  /** Runs the session for a while, and asks for another call if there will be more to do. Call it after an action on the store itself. */
  readonly run: (
    ctx: ObjectContext,
    /** Time that a delayed call was made for. */
    calledFor?: number,
  ) => Promise<{ readonly type: 'rested' | 'left' | 'owned'; readonly wakeAt?: number }>;
};

/** Key under which Restate keeps the time of the next delayed call. */
const nextAtKey = 'nextAt';

/** Errors that pass; any other of a session comes again with the same request. */
const passing = ['store-unavailable', 'runtime-closed', 'lease-lost', 'mail-waiting'];

const statuses: Readonly<Record<string, number>> = { 'invalid-argument': 400, 'unknown-session': 404, 'session-deleted': 410 };

function toTerminalError(error: unknown): TerminalError | undefined {
  if (!SteplineError.is(error) || passing.includes(error.code)) return undefined;
  const { code, message } = error;
  return new TerminalError(message, { errorCode: statuses[code] ?? 409, metadata: { code } });
}

function assertInput(input: unknown): void {
  if (!isRecord(input)) throw new InvalidArgumentError('The input of this handler must be a JSON object.');
}

/** Creates a Restate object that runs the sessions of a store, each under its id. Serve it in any number of processes. */
export function createSessionObject(given: SessionObjectOptions): VirtualObjectDefinition<string, SessionObject> {
  const { runtime, name = 'sessions', untilMs = 60_000, retryMs = 1000, options } = given;
  const callMe = (ctx: ObjectSharedContext) => ctx.objectSendClient<VirtualObjectDefinition<string, SessionObject>>({ name }, ctx.key);
  const act = <Input extends Options<ActionOptions>>(post: (id: string, input: Input & ActionOptions) => Promise<SessionResult>) =>
    handlers.object.shared(async (ctx: ObjectSharedContext, input: Input): Promise<Accepted> => {
      assertInput(input);
      const requestId = input.requestId ?? ctx.rand.uuidv4();
      const accepted = await ctx.run('post', async () => {
        const { execution, status, isRepeated, isPending } = await post(ctx.key, { ...input, requestId, until: 'accepted' });
        return omitUndefined({ execution, status, isRepeated, isPending });
      });
      callMe(ctx).run();
      return accepted;
    });
  return object({
    name,
    options: { asTerminalError: toTerminalError, ...options },
    handlers: {
      create: handlers.object.shared(async (ctx: ObjectSharedContext, input: Parameters<SessionObject['create']>[1]) => {
        assertInput(input);
        const { by, traceparent, requestId = ctx.rand.uuidv4(), ...session } = input;
        await ctx.run('create', async () => {
          await runtime.create({ ...session, id: ctx.key }, omitUndefined({ by, traceparent, requestId }));
        });
      }),
      get: handlers.object.shared(async (ctx: ObjectSharedContext): Promise<SessionView> => runtime.get(ctx.key)),
      send: act<Inputs['send']>((id, { content, ...more }) => runtime.send(id, content, more)),
      resume: act<Inputs['resume']>((id, more) => runtime.resume(id, more)),
      cancel: act<Inputs['cancel']>((id, { reason, ...more }) => runtime.cancel(id, reason, more)),
      approve: act<Inputs['approve']>((id, { wait, ...more }) => runtime.approve(id, wait, more)),
      reject: act<Inputs['reject']>((id, { wait, ...more }) => runtime.reject(id, wait, more)),
      answer: act<Inputs['answer']>((id, { wait, ...more }) => runtime.answer(id, wait, more)),
      grant: act<Inputs['grant']>((id, { amounts, ...more }) => runtime.grant(id, amounts, more)),
      run: async (ctx: ObjectContext, calledFor?: number) => {
        const ran = await ctx.run('run', async () => {
          try {
            const once = await runtime.runOnce(ctx.key, { untilMs });
            return { type: once.type, ...(once.type === 'rested' && omitUndefined({ wakeAt: once.wakeAt })) };
          } catch (error) {
            // While releases change, another process may have the agent.
            if (SteplineError.is(error) && error.code === 'unknown-agent') return { type: 'left' as const };
            throw error;
          }
        });
        if (ran.type === 'rested' && ran.wakeAt === undefined) return ran;
        const now = await ctx.date.now();
        const at = Math.max(ran.wakeAt ?? 0, now + retryMs);
        const nextAt = (await ctx.get<number>(nextAtKey)) ?? 0;
        // By another clock, this call may be early.
        const isAnotherToCome = nextAt !== calledFor && nextAt > now;
        if (isAnotherToCome && nextAt <= at) return ran;
        ctx.set(nextAtKey, at);
        callMe(ctx).run(at, rpc.sendOpts({ delay: at - now }));
        return ran;
      },
    },
  });
}
