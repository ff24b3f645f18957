// A server on a real socket, for the tests of HTTP: sessions of two tenants, and callers by a header.
import type { Server } from 'node:http';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { onTestFinished } from 'vitest';
import type { Authentication, Authorization, AuthorizationRequest, SessionHandlerOptions } from '../../src/broadcasting/http/index.ts';
import { createSessionHandler, toNodeListener } from '../../src/broadcasting/http/index.ts';
import type { EmbeddedRuntime } from '../../src/sessions/index.ts';
import { createMemoryStore, createSessionRuntime } from '../../src/sessions/index.ts';
import type { Orchestrator } from '../../src/step-by-step/index.ts';
import { createConformanceAgents } from '../../src/testing/index.ts';

/** Reads the caller from the header `x-caller: ann user north`. */
export function readCaller(request: Request): { readonly id: string; readonly kind: string; readonly tenant: string } | undefined {
  const [id, kind, tenant] = (request.headers.get('x-caller') ?? '').split(' ');
  return id === undefined || kind === undefined || tenant === undefined ? undefined : { id, kind, tenant };
}

/** Users use their own sessions, staff those of their tenant; only staff approves, and nobody what they asked for. */
export function authorize({ by, request, action, session, wait }: AuthorizationRequest): Authorization {
  if (action === 'health') return true;
  const tenant = readCaller(request)?.tenant ?? '';
  if (session === undefined) return { scope: by.kind === 'staff' ? { tenant } : { tenant, owner: by.id } };
  if (session.tenant !== tenant || (by.kind !== 'staff' && session.owner !== by.id)) return undefined;
  const isApproval = action === 'approve' || action === 'grant';
  if (isApproval && by.kind !== 'staff') return { refused: 'forbidden', reason: 'Only staff approves.' };
  if (isApproval && wait?.requestedBy?.id === by.id) return { refused: 'forbidden', reason: 'Somebody else has to approve this.' };
  return true;
}

/** Names the caller; whoever asks for the health is a probe. */
export function authenticate(request: Request): Authentication {
  if (new URL(request.url).pathname.endsWith('/health')) return { id: 'probe', kind: 'service' };
  return readCaller(request) ?? { refused: 'unauthenticated', reason: 'Send x-caller.' };
}

export const newSession: SessionHandlerOptions['newSession'] = ({ request, by, body }) => ({
  tenant: readCaller(request)?.tenant ?? '',
  owner: by.id,
  ...(typeof body['agent'] === 'string' && { agent: body['agent'] }),
});

export const ann = 'ann user north';
export const bob = 'bob staff north';
/** Of another tenant. */
export const eve = 'eve staff south';

/** Starts a server, on a free port unless one is given; it ends with the test. */
export async function listen(server: Server, port = 0): Promise<string> {
  await new Promise<void>((resolve) => server.listen(port, '127.0.0.1', resolve));
  onTestFinished(
    () =>
      new Promise<void>((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  );
  // Holds: it listens on a port, not on a pipe.
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

/** A wait in an answer. */
export interface AnsweredWait {
  readonly wait_id: string;
  readonly digest: string;
  readonly args?: unknown;
  readonly hidden_fields: readonly string[];
}

/** Fields of answers that tests look at. */
export interface AnswerBody {
  readonly session_id: string;
  readonly sessions: readonly { readonly session_id: string }[];
  readonly cursor: string;
  readonly waits: readonly [AnsweredWait];
  readonly sentence: string;
  readonly worker?: { readonly name: string; readonly silent_ms?: number };
  readonly text: string;
  readonly approvals: readonly [{ readonly approval_id: string }];
  readonly is_repeated?: boolean;
  readonly seen: string;
  readonly token: string;
  readonly expires_at: string;
  readonly error: { readonly code: string; readonly message: string };
}

/** A JSON answer. */
export interface Answer {
  readonly status: number;
  readonly headers: Headers;
  readonly body: AnswerBody;
}

export interface Site {
  readonly url: string;
  readonly runtime: EmbeddedRuntime;
  readonly problems: readonly unknown[];
  /** Lets the agents pass a gate. */
  readonly open: (gate: string) => void;
  /** Makes a request as a caller. A value is sent as JSON. */
  request(caller: string | undefined, method: string, path: string, value?: unknown): Promise<Answer>;
  /** Creates a session of a caller and sends it a message, if one is given; returns its id. */
  start(caller: string, text?: string, agent?: string): Promise<string>;
}

export interface SiteOptions {
  readonly agents?: readonly Orchestrator[];
  readonly handler?: Partial<SessionHandlerOptions>;
}

/** Serves sessions of a store in memory. */
export async function openSite({ agents, handler = {} }: SiteOptions = {}): Promise<Site> {
  const gates = new Set<string>();
  const problems: unknown[] = [];
  const isOpen = (gate: string): boolean => gates.has(gate);
  const pass = async (gate: string): Promise<void> => {
    while (!isOpen(gate)) await new Promise((resolve) => setTimeout(resolve, 2));
  };
  const runtime = createSessionRuntime({
    agents: agents ?? createConformanceAgents({ record: () => undefined, pass, isOpen }),
    store: createMemoryStore(),
  });
  onTestFinished(() => runtime.drain({ timeoutMs: 0 }));
  const onProblem = (error: unknown): void => void problems.push(error);
  const handle = createSessionHandler(runtime, { authenticate, authorize, newSession, onProblem, ...handler });
  const url = await listen(createServer(toNodeListener(handle)));
  const request: Site['request'] = async (caller, method, path, value) => {
    const headers: Record<string, string> = caller === undefined ? {} : { 'x-caller': caller };
    if (method !== 'GET') headers['content-type'] = 'application/json';
    const response = await fetch(`${url}${path}`, { method, headers, ...(value !== undefined && { body: JSON.stringify(value) }) });
    const text = await response.text();
    return { status: response.status, headers: response.headers, body: JSON.parse(text === '' ? '{}' : text) as AnswerBody };
  };
  const start: Site['start'] = async (caller, text, agent = 'desk') => {
    const { body } = await request(caller, 'POST', '/sessions', { agent });
    const id = body.session_id;
    if (text !== undefined) await request(caller, 'POST', `/sessions/${id}/messages`, { text, until: 'rest' });
    return id;
  };
  return { url, runtime, problems, open: (gate) => void gates.add(gate), request, start };
}
