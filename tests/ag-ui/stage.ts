// A server of AG-UI on a real socket, and its own client in front of it.
import { createServer } from 'node:http';
import { HttpAgent, verifyEvents } from '@ag-ui/client';
import type { AgentSubscriber, BaseEvent, Interrupt, ResumeEntry } from '@ag-ui/client';
import { EventSchemas } from '@ag-ui/core/schemas';
import { from, lastValueFrom, toArray } from 'rxjs';
import { onTestFinished } from 'vitest';
import type { AgUiHandlerOptions } from '../../src/broadcasting/ag-ui/index.ts';
import { createAgUiHandler } from '../../src/broadcasting/ag-ui/index.ts';
import { toNodeListener } from '../../src/broadcasting/http/index.ts';
import type { EmbeddedRuntime, SessionRuntimeOptions } from '../../src/sessions/index.ts';
import { createMemoryPlace, createSessionRuntime } from '../../src/sessions/index.ts';
import type { Orchestrator } from '../../src/step-by-step/index.ts';
import type { Clock } from '../../src/lib/index.ts';
import { createConformanceAgents } from '../../src/testing/index.ts';
import { ann, authenticate, authorize, listen, newSession } from '../http/stage.ts';

/** An event as a page reads it. */
export type ReadEvent = Readonly<Record<string, unknown>> & { readonly type: string };

/** A run as a page has seen it. */
export interface PageRun {
  readonly types: readonly string[];
  readonly events: readonly ReadEvent[];
  /** `success`, `interrupt` or `cancelled`; `error` if the run failed. */
  readonly outcome: string;
  readonly interrupts: readonly Interrupt[];
  readonly error?: { readonly code: string; readonly message: string };
}

const isText = (value: unknown): value is string => typeof value === 'string';

function toRun(events: readonly ReadEvent[]): PageRun {
  const last = events.at(-1);
  const outcome = last?.['outcome'] as { readonly type: string; readonly interrupts?: readonly Interrupt[] } | undefined;
  const [code, message] = [last?.['code'], last?.['message']];
  return {
    types: events.map(({ type }) => type),
    events,
    outcome: last?.type === 'RUN_ERROR' ? 'error' : (outcome?.type ?? 'none'),
    interrupts: outcome?.interrupts ?? [],
    ...(isText(code) && isText(message) && { error: { code, message } }),
  };
}

/**
 * Checks events with the protocol's own schemas and its own verifier. That a field is unknown to the protocol is noticed by the client, which
 * warns of it: a test that writes a warning fails.
 */
export async function checkEvents(events: readonly unknown[]): Promise<readonly ReadEvent[]> {
  // Holds: the schema has checked it; its type only differs in how it spells absent fields.
  const parsed = events.map((event) => EventSchemas.parse(event) as BaseEvent);
  await lastValueFrom(from(parsed).pipe(verifyEvents(), toArray()), { defaultValue: [] });
  return parsed;
}

/** Reads the events from the bytes of a response. */
export async function readEvents(response: Response): Promise<readonly ReadEvent[]> {
  const text = await response.text();
  const frames = text.split('\n\n').filter((frame) => frame !== '' && !frame.startsWith(':'));
  return checkEvents(frames.map((frame) => JSON.parse(frame.replace(/^data: /, '')) as unknown));
}

/** A page with the protocol's own client. */
export interface Page {
  readonly agent: HttpAgent;
  /** Runs the thread: sends a text, answers interrupts, or only looks. Every event passes the schemas and the verifier. */
  run(input?: { readonly text?: string; readonly resume?: readonly ResumeEntry[] }): Promise<PageRun>;
}

export interface AgUiSite {
  readonly url: string;
  readonly runtime: EmbeddedRuntime;
  readonly records: readonly string[];
  readonly problems: readonly unknown[];
  readonly open: (gate: string) => void;
  /** Opens a page on a thread; a reload, or another tab, is another page on the same thread. */
  openPage(threadId: string, caller?: string): Page;
  /** Makes a request by hand. */
  post(input: object, caller?: string): Promise<Response>;
  /** Stops the server and starts another one over the same store. */
  restart(): Promise<AgUiSite>;
  /** Number of times that a call has run. */
  count(call: string): number;
}

export interface AgUiSiteOptions {
  readonly agents?: readonly Orchestrator[];
  /** Time of the agents and of their runtime. */
  readonly clock?: Clock;
  readonly runtime?: Partial<SessionRuntimeOptions>;
  readonly handler?: Partial<AgUiHandlerOptions>;
}

/** Lets everybody approve who may see the session. */
const trusting: AgUiHandlerOptions['authorize'] = (question) =>
  authorize(question.action === 'approve' || question.action === 'grant' ? { ...question, action: 'reject' } : question);

function createPage(url: string, threadId: string, caller: string): Page {
  const agent = new HttpAgent({ url, threadId, headers: { 'x-caller': caller } });
  let counter = 0;
  return {
    agent,
    run: async ({ text, resume } = {}) => {
      const events: ReadEvent[] = [];
      const subscriber: AgentSubscriber = { onEvent: ({ event }) => void events.push(event) };
      counter += 1;
      if (text !== undefined) agent.addMessage({ id: `${caller}-${threadId}-${counter}-${text}`, role: 'user', content: text });
      await agent.runAgent({ ...(resume !== undefined && { resume: [...resume] }) }, subscriber);
      await checkEvents(events);
      return toRun(events);
    },
  };
}

/** Serves sessions over AG-UI. */
export async function openAgUiSite(options: AgUiSiteOptions = {}, place = createMemoryPlace()): Promise<AgUiSite> {
  const gates = new Set<string>();
  const records: string[] = [];
  const problems: unknown[] = [];
  const isOpen = (gate: string): boolean => gates.has(gate);
  const pass = async (gate: string): Promise<void> => {
    while (!isOpen(gate)) await new Promise((resolve) => setTimeout(resolve, 2));
  };
  const clock = options.clock === undefined ? {} : { clock: options.clock };
  const surroundings = { record: (line: string) => void records.push(line), pass, isOpen, ...clock };
  const agents = options.agents ?? createConformanceAgents(surroundings).filter(({ id }) => id === 'desk');
  const runtime = createSessionRuntime({ agents, store: place.open(), ...clock, ...options.runtime });
  onTestFinished(() => runtime.drain({ timeoutMs: 0 }));
  const onProblem = (error: unknown): void => void problems.push(error);
  const handle = createAgUiHandler(runtime, { authenticate, authorize: trusting, newSession, onProblem, ...options.handler });
  const url = await listen(createServer(toNodeListener(handle)));
  return {
    url,
    runtime,
    records,
    problems,
    open: (gate) => void gates.add(gate),
    openPage: (threadId, caller = ann) => createPage(url, threadId, caller),
    post: (input, caller = ann) => {
      const body = JSON.stringify({ threadId: 't', runId: 'r', messages: [], ...input });
      return fetch(url, { method: 'POST', headers: { 'x-caller': caller, 'content-type': 'application/json' }, body });
    },
    restart: async () => {
      await runtime.drain();
      return openAgUiSite(options, place);
    },
    count: (call) => records.filter((line) => line.startsWith(`${call} `)).length,
  };
}

/** A promise that is settled from outside. */
export function createSignal<Value>(): { readonly promise: Promise<Value>; readonly resolve: (value: Value) => void } {
  let settle: (value: Value) => void = () => undefined;
  const promise = new Promise<Value>((resolve) => (settle = resolve));
  return { promise, resolve: (value) => settle(value) };
}

/** Approves an interrupt. */
export const approve = ({ id }: Pick<Interrupt, 'id'>, more: object = {}): ResumeEntry => ({
  interruptId: id,
  status: 'resolved',
  payload: { approved: true, ...more },
});

/** Rejects an interrupt. */
export const reject = ({ id }: Pick<Interrupt, 'id'>, reason: string): ResumeEntry => ({
  interruptId: id,
  status: 'resolved',
  payload: { approved: false, reason },
});
