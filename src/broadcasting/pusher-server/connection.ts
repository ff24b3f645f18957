// One connection of a page.
// Owns:     what is done with each message, and when a silent connection is given up.
// Does not: know HTTP, or how a socket is opened.
// X1. A message that is wrong gets an error that says why, and the connection stays.
// X2. Private and presence channels are for those that the app has signed for.
// X3. A connection from which nothing comes is asked for a sign of life, and closed if it gives none.
import type { Clock } from '../../lib/index.ts';
import { isRecord, parseJsonText } from '../../lib/index.ts';
import type { PusherServerApp } from './apps.ts';
import type { Channels, Member, Subscriber } from './channels.ts';
import { isChannelName, isPresence, isPrivate } from './channels.ts';
import type { ProtocolProblem } from './close-codes.ts';
import { problems } from './close-codes.ts';
import { isAuthorized } from './signatures.ts';

/** A part of a WebSocket. */
export interface Socket {
  send(text: string): void;
  close(code: number, reason: string): void;
}

export interface ConnectionOptions {
  readonly app: PusherServerApp;
  readonly channels: Channels;
  readonly clock: Clock;
  readonly activityMs: number;
  readonly pongMs: number;
  readonly clientEventsPerSecond: number;
}

type Fields = Readonly<Record<string, unknown>>;

function parseMember(text: unknown): Member | undefined {
  const value = typeof text === 'string' ? parseJsonText(text) : undefined;
  if (!isRecord(value)) return undefined;
  const { user_id, user_info } = value;
  if (typeof user_id !== 'string' && typeof user_id !== 'number') return undefined;
  return { user_id: String(user_id), ...(user_info !== undefined && { user_info }) };
}

/** Describes who is present, for somebody who joins. */
function describePresence(members: readonly Member[]): string {
  const hash = Object.fromEntries(members.map(({ user_id, user_info = null }) => [user_id, user_info]));
  return JSON.stringify({ presence: { count: members.length, ids: members.map(({ user_id }) => user_id), hash } });
}

export class Connection implements Subscriber {
  readonly socketId: string;
  readonly #socket: Socket;
  readonly #options: ConnectionOptions;
  /** Times of client events in the last second. */
  #sentAt: readonly number[] = [];
  #cancelTimer: () => void = () => undefined;

  constructor(socketId: string, socket: Socket, options: ConnectionOptions) {
    this.socketId = socketId;
    this.#socket = socket;
    this.#options = options;
    const activity_timeout = Math.ceil(options.activityMs / 1000);
    this.#write({ event: 'pusher:connection_established', data: JSON.stringify({ socket_id: socketId, activity_timeout }) });
    this.#listen();
  }

  /** Takes a message of the page. */
  receive(text: string): void {
    this.#listen();
    const message = parseJsonText(text);
    if (!isRecord(message) || typeof message['event'] !== 'string') {
      this.#refuse(problems.invalidMessage);
      return;
    }
    const { event } = message;
    const data = isRecord(message['data']) ? message['data'] : {};
    if (event === 'pusher:ping') this.#write({ event: 'pusher:pong', data: '{}' });
    else if (event === 'pusher:subscribe') this.#subscribe(data);
    else if (event === 'pusher:unsubscribe') this.#unsubscribe(data['channel']);
    else if (event.startsWith('client-')) this.#passOn(event, message);
    else if (event !== 'pusher:pong') this.#refuse(problems.invalidMessage);
  }

  send(event: string, channel: string, data: unknown): void {
    this.#write({ event, channel, data });
  }

  /** Ends the connection, and says why. */
  close(problem: ProtocolProblem = problems.unauthorized): void {
    this.#refuse(problem);
    this.leave();
    this.#socket.close(problem.code, problem.message);
  }

  /** The connection has ended. */
  leave(): void {
    this.#cancelTimer();
    this.#options.channels.removeEverywhere(this);
  }

  #subscribe({ channel, auth, channel_data }: Fields): void {
    const { app, channels } = this.#options;
    if (!isChannelName(channel)) {
      this.#refuse(problems.invalidMessage);
      return;
    }
    const channelData = isPresence(channel) ? String(channel_data) : undefined;
    const member = isPresence(channel) ? parseMember(channel_data) : undefined;
    const isAllowed = !isPrivate(channel) || isAuthorized(app, { socketId: this.socketId, channel, auth: String(auth), channelData });
    if (!isAllowed || (isPresence(channel) && member === undefined)) {
      this.#refuse(problems.unauthorized);
      return;
    }
    channels.add(channel, this, member);
    const data = isPresence(channel) ? describePresence(channels.getMembers(channel)) : '{}';
    this.send('pusher_internal:subscription_succeeded', channel, data);
  }

  #unsubscribe(channel: unknown): void {
    if (isChannelName(channel)) this.#options.channels.remove(channel, this);
  }

  /** Passes an event of this page on to the others. */
  #passOn(event: string, { channel, data }: Fields): void {
    const { app, channels, clock, clientEventsPerSecond } = this.#options;
    const isAllowed = app.allowsClientEvents !== false && isChannelName(channel) && isPrivate(channel) && channels.has(channel, this);
    if (!isAllowed) {
      this.#refuse(problems.clientEventRefused);
      return;
    }
    const now = clock.monotonic();
    this.#sentAt = this.#sentAt.filter((at) => at > now - 1000);
    if (this.#sentAt.length >= clientEventsPerSecond) {
      this.#refuse(problems.rateLimited);
      return;
    }
    this.#sentAt = [...this.#sentAt, now];
    channels.send(channel, { event, data, except: this.socketId });
  }

  /** Waits for the next message. */
  #listen(): void {
    const { clock, activityMs, pongMs } = this.#options;
    this.#cancelTimer();
    const ask = (): void => {
      this.#write({ event: 'pusher:ping', data: '{}' });
      this.#cancelTimer = clock.schedule(pongMs, () => this.close(problems.noPong), true);
    };
    this.#cancelTimer = clock.schedule(activityMs, ask, true);
  }

  #refuse(problem: ProtocolProblem): void {
    this.#write({ event: 'pusher:error', data: JSON.stringify(problem) });
  }

  #write(message: object): void {
    this.#socket.send(JSON.stringify(message));
  }
}
