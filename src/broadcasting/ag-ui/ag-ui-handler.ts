// The handler of AG-UI requests.
// Owns:     the order in which a request is checked, and whether an error is a status or the end of a run.
// Does not: know how a run is streamed, or what an answer means.
// H3. Who it is comes first, before the input is read. An input that cannot be read, or that the host refuses, is an HTTP error, and no run starts. Everything else is RUN_ERROR.
// H4. A page that leaves changes nothing: only DELETE stops a run.
import { InvalidArgumentError, readField } from '../../lib/index.ts';
import type { JsonObject } from '../../lib/index.ts';
import type { RunState } from '../../step-by-step/index.ts';
import { NotWaitingError } from '../../step-by-step/index.ts';
import type { Session, SessionRuntime } from '../../sessions/index.ts';
import type { Caller } from '../http/index.ts';
import { toOrigin } from '../http/index.ts';
import {
  describeError,
  getSession,
  guardRequests,
  isServerError,
  MethodNotAllowedError,
  readBody,
  toErrorResponse,
  toResponse,
  toSseResponse,
} from '../http/index.ts';
import type { AgUiEvent } from './ag-ui-event.ts';
import { protocolVersion } from './ag-ui-event.ts';
import type { AgUiHandlerOptions, AgUiServices } from './handler-options.ts';
import { createServices } from './handler-options.ts';
import type { RunInput } from './read-input.ts';
import { readInput } from './read-input.ts';
import type { RunItem } from './session-run.ts';
import { SessionRunStream } from './session-run.ts';
import { planThread, startRun } from './start-run.ts';

/** Errors of what a run was asked for. The page shows them as the end of the run. */
const runCodes = [
  ...['already-answered', 'late-answer', 'not-waiting', 'forged-approval', 'stale-approval', 'foreign-approval', 'hidden-arguments'],
  ...['message-refused', 'request-reused', 'action-refused', 'crash-loop', 'agent-changed', 'invalid-argument'],
];

// A comment keeps an idle connection open.
const write = (item: RunItem): string => (item === 'idle' ? ': idle\n\n' : `data: ${JSON.stringify(item)}\n\n`);

const methods = ['POST', 'DELETE'];

/** Returns the session of a thread; undefined if there is none yet. */
async function findThread(services: AgUiServices, threadId: string): Promise<Session | undefined> {
  try {
    return await services.runtime.get(threadId);
  } catch (error) {
    if (readField(error, 'code') === 'unknown-session') return undefined;
    return getSession(services, threadId);
  }
}

/** Returns the session of a thread, which is created for its first message. */
async function openThread(services: AgUiServices, caller: Caller, { input, body }: ReadRequest): Promise<Session | undefined> {
  const { threadId, message, resume } = input;
  const session = await findThread(services, threadId);
  if (session !== undefined) return session;
  const create = await planThread(services, caller, { threadId, body });
  const [first] = resume;
  if (first !== undefined) throw new NotWaitingError(first.interruptId, []);
  return message === undefined ? undefined : create();
}

interface ReadRequest {
  readonly input: RunInput;
  readonly body: JsonObject;
}

async function* toItems(events: Iterable<AgUiEvent>): AsyncGenerator<RunItem, void, undefined> {
  yield* events;
}

const toStart = ({ threadId, runId }: RunInput): AgUiEvent => ({ type: 'RUN_STARTED', threadId, runId, protocolVersion });

/** Turns an error into the end of a run. */
function toRunError({ redactor }: AgUiServices, error: unknown): AgUiEvent {
  const { code, message } = describeError(redactor, error);
  return { type: 'RUN_ERROR', message, code };
}

/** Streams a run. An error ends it with RUN_ERROR. */
async function* streamSafely(services: AgUiServices, run: SessionRunStream, signal: AbortSignal): AsyncGenerator<RunItem, void, undefined> {
  try {
    yield* run.read(signal);
  } catch (error) {
    if (isServerError(error)) services.report(error, 'a run of AG-UI');
    yield toRunError(services, error);
  }
}

/** Returns a signal that aborts when the reader leaves, or after the longest time that a stream may take. */
function createLeaving(services: AgUiServices, request: Request): AbortController {
  const leaving = new AbortController();
  const leave = (): void => leaving.abort();
  request.signal.addEventListener('abort', leave, { once: true });
  leaving.signal.addEventListener('abort', services.clock.schedule(services.maxStreamMs, leave, true), { once: true });
  // The reader may have left while it was authorized.
  if (request.signal.aborted) leave();
  return leaving;
}

async function handleRun(services: AgUiServices, request: Request): Promise<Response> {
  const caller = await services.gate.authenticate(request);
  const body = await readBody(request, services.maxBodyBytes);
  const input = readInput(body);
  const leaving = createLeaving(services, request);
  const leave = (): void => leaving.abort();
  const respond = (items: AsyncGenerator<RunItem, void, undefined>): Response =>
    toSseResponse(items, write, { onError: (error) => services.report(error, 'a run of AG-UI'), leave });
  try {
    const session = await openThread(services, caller, { input, body });
    const { threadId, runId } = input;
    if (session === undefined)
      return respond(toItems([toStart(input), { type: 'RUN_FINISHED', threadId, runId, outcome: { type: 'success' } }]));
    const started = await startRun({ services, caller, input, session });
    return respond(streamSafely(services, new SessionRunStream(services, input, started), leaving.signal));
  } catch (error) {
    if (!runCodes.includes(describeError(services.redactor, error).code)) {
      leave();
      throw error;
    }
    return respond(toItems([toStart(input), toRunError(services, error)]));
  }
}

/** Stops a run: `DELETE ?threadId=…`. */
async function handleStop(services: AgUiServices, request: Request): Promise<Response> {
  const caller = await services.gate.authenticate(request);
  const threadId = new URL(request.url).searchParams.get('threadId') ?? '';
  if (threadId === '') throw new InvalidArgumentError('The thread to stop is missing. Add ?threadId=… to the address.');
  const session = await getSession(services, threadId);
  const reason = 'stopped on the page';
  await services.gate.check(caller, { action: 'cancel', session, input: { reason } });
  await services.runtime.cancel(session.id, reason, { ...toOrigin(caller), until: 'accepted' });
  return toResponse(services.redactor, 202, { threadId });
}

/** Creates a handler that serves the sessions of a runtime to clients of AG-UI. It never rejects. */
export function createAgUiHandler<State extends RunState, Output>(
  runtime: SessionRuntime<State, Output>,
  options: AgUiHandlerOptions,
): (request: Request) => Promise<Response> {
  const services = createServices(runtime, options);
  const { origins, redactor, report } = services;
  return guardRequests({ origins, methods, report, toErrorResponse: (error) => toErrorResponse(redactor, error) }, async (request) => {
    if (request.method === 'POST') return handleRun(services, request);
    if (request.method === 'DELETE') return handleStop(services, request);
    throw new MethodNotAllowedError(request.method, methods);
  });
}
