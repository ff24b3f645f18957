// The HTTP API of the server: publishing, and questions about channels.
// A1. Every request about an app is signed with its secret; the size is checked before anything is read, the signature before anything is done.
// A2. A batch is published whole or not at all.
import { isRecord, parseJsonText } from '../../lib/index.ts';
import type { PusherServerApp } from './apps.ts';
import type { Channels } from './channels.ts';
import { isChannelName, isPresence } from './channels.ts';

/** An answer of the API. */
export interface ApiAnswer {
  readonly status: number;
  readonly body: object;
}

/** A request whose signature was checked. */
export interface ApiCall {
  readonly app: PusherServerApp;
  readonly channels: Channels;
  readonly method: string;
  /** Path after the app. */
  readonly path: string;
  readonly query: URLSearchParams;
  readonly body: string;
}

/** An event to publish. */
interface PublishedEvent {
  readonly name: string;
  readonly channels: readonly string[];
  readonly data: unknown;
  readonly except: string | undefined;
}

const mostEvents = 10;
const mostChannels = 100;
const longestName = 200;
const longestData = 10_000;

export const refuse = (status: number, error: string): ApiAnswer => ({ status, body: { error } });

const isList = (value: unknown): value is readonly unknown[] => Array.isArray(value);

const byteLength = (data: unknown): number => Buffer.byteLength(typeof data === 'string' ? data : JSON.stringify(data));

/** Reads an event; returns an answer if it cannot be published. */
function readEvent(value: unknown): PublishedEvent | ApiAnswer {
  if (!isRecord(value)) return refuse(400, 'An event must be a JSON object.');
  const { name, channel, channels = [channel], data, socket_id } = value;
  if (typeof name !== 'string' || name === '' || name.length > longestName)
    return refuse(400, `name must be a text of 1 to ${longestName} characters.`);
  if (!isList(channels) || channels.length === 0 || channels.length > mostChannels || !channels.every(isChannelName))
    return refuse(400, `channels must be 1 to ${mostChannels} names of channels.`);
  if (data === undefined) return refuse(400, 'data is missing.');
  if (byteLength(data) > longestData) return refuse(413, `The data of an event may have ${longestData} bytes.`);
  return { name, channels, data, except: typeof socket_id === 'string' ? socket_id : undefined };
}

const isRefusal = (value: PublishedEvent | ApiAnswer): value is ApiAnswer => 'status' in value;

function publish({ channels }: ApiCall, values: readonly unknown[]): ApiAnswer {
  const events: PublishedEvent[] = [];
  for (const value of values) {
    const event = readEvent(value);
    if (isRefusal(event)) return event;
    events.push(event);
  }
  for (const { name, channels: names, data, except } of events)
    for (const channel of names) channels.send(channel, { event: name, data, except });
  return { status: 200, body: {} };
}

function publishBatch(call: ApiCall): ApiAnswer {
  const body = parseJsonText(call.body);
  const batch = isRecord(body) ? body['batch'] : undefined;
  if (!isList(batch)) return refuse(400, 'The body must be { "batch": […] }.');
  if (batch.length > mostEvents) return refuse(400, `A batch may have ${mostEvents} events.`);
  return publish(call, batch);
}

/** Describes a channel as far as it was asked for. */
function describeChannel({ channels, query }: ApiCall, name: string): object {
  const asked = (query.get('info') ?? '').split(',');
  return {
    ...(asked.includes('user_count') && isPresence(name) && { user_count: channels.getMembers(name).length }),
    ...(asked.includes('subscription_count') && { subscription_count: channels.countSubscribers(name) }),
  };
}

function listChannels(call: ApiCall): ApiAnswer {
  const prefix = call.query.get('filter_by_prefix') ?? '';
  const names = call.channels.names.filter((name) => name.startsWith(prefix));
  return { status: 200, body: { channels: Object.fromEntries(names.map((name) => [name, describeChannel(call, name)])) } };
}

function showChannel(call: ApiCall, name: string): ApiAnswer {
  return { status: 200, body: { occupied: call.channels.countSubscribers(name) > 0, ...describeChannel(call, name) } };
}

function listUsers({ channels }: ApiCall, name: string): ApiAnswer {
  if (!isPresence(name)) return refuse(400, 'Only presence channels have users.');
  return { status: 200, body: { users: channels.getMembers(name).map(({ user_id: id }) => ({ id })) } };
}

function terminate({ channels }: ApiCall, userId: string): ApiAnswer {
  for (const connection of channels.findConnections(userId)) connection.close();
  return { status: 200, body: {} };
}

type Handle = (call: ApiCall, name: string) => ApiAnswer;

const routes: readonly (readonly [method: string, path: RegExp, handle: Handle])[] = [
  ['POST', /^\/events$/, (call) => publish(call, [parseJsonText(call.body)])],
  ['POST', /^\/batch_events$/, publishBatch],
  ['GET', /^\/channels$/, listChannels],
  ['GET', /^\/channels\/([^/]+)$/, showChannel],
  ['GET', /^\/channels\/([^/]+)\/users$/, listUsers],
  ['POST', /^\/users\/([^/]+)\/terminate_connections$/, terminate],
];

/** Answers a request whose signature was checked. */
export function answer(call: ApiCall): ApiAnswer {
  const found = routes.find(([method, path]) => method === call.method && path.test(call.path));
  if (found === undefined) return refuse(404, 'There is no such address.');
  const [, path, handle] = found;
  const [, name = ''] = path.exec(call.path) ?? [];
  return handle(call, decodeURIComponent(name));
}
