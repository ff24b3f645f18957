// The channels of one app.
// Owns:     who listens to what, and who is present where.
// Does not: know sockets, or who may listen.
// C1. A channel exists while somebody listens to it.
// C2. Somebody who is present with several connections joins once and leaves once.

/** Somebody on a presence channel. */
export interface Member {
  readonly user_id: string;
  readonly user_info?: unknown;
}

/** A connection that listens. */
export interface Subscriber {
  readonly socketId: string;
  send(event: string, channel: string, data: unknown): void;
  close(): void;
}

type Channel = Map<Subscriber, Member | undefined>;

export const isPresence = (name: string): boolean => name.startsWith('presence-');
export const isPrivate = (name: string): boolean => name.startsWith('private-') || isPresence(name);
export const isChannelName = (name: unknown): name is string => typeof name === 'string' && /^[\w\-=@,.;]{1,200}$/.test(name);

export class Channels {
  readonly #channels = new Map<string, Channel>();

  /** Returns the names of channels that somebody listens to. */
  get names(): readonly string[] {
    return [...this.#channels.keys()];
  }

  has(name: string, subscriber: Subscriber): boolean {
    return this.#channels.get(name)?.has(subscriber) === true;
  }

  countSubscribers(name: string): number {
    return this.#channels.get(name)?.size ?? 0;
  }

  /** Returns the members of a presence channel, each once. */
  getMembers(name: string): readonly Member[] {
    const members = new Map<string, Member>();
    for (const member of this.#channels.get(name)?.values() ?? []) if (member !== undefined) members.set(member.user_id, member);
    return [...members.values()];
  }

  getMember(name: string, subscriber: Subscriber): Member | undefined {
    return this.#channels.get(name)?.get(subscriber);
  }

  add(name: string, subscriber: Subscriber, member?: Member): void {
    const isNew = member !== undefined && !this.#isPresent(name, member);
    const channel: Channel = this.#channels.get(name) ?? new Map<Subscriber, Member | undefined>();
    this.#channels.set(name, channel.set(subscriber, member));
    if (isNew) this.send(name, { event: 'pusher_internal:member_added', data: JSON.stringify(member), except: subscriber.socketId });
  }

  remove(name: string, subscriber: Subscriber): void {
    const channel = this.#channels.get(name);
    const member = channel?.get(subscriber);
    if (channel?.delete(subscriber) !== true) return;
    if (channel.size === 0) this.#channels.delete(name);
    if (member === undefined || this.#isPresent(name, member)) return;
    this.send(name, { event: 'pusher_internal:member_removed', data: JSON.stringify({ user_id: member.user_id }) });
  }

  removeEverywhere(subscriber: Subscriber): void {
    for (const name of this.names) this.remove(name, subscriber);
  }

  /** Sends an event to everybody who listens, but to the connection that it came from. */
  send(
    name: string,
    { event, data, except }: { readonly event: string; readonly data: unknown; readonly except?: string | undefined },
  ): void {
    for (const subscriber of [...(this.#channels.get(name)?.keys() ?? [])])
      if (subscriber.socketId !== except) subscriber.send(event, name, data);
  }

  /** Returns the connections of somebody who is present anywhere. */
  findConnections(userId: string): readonly Subscriber[] {
    const found = [...this.#channels.values()].flatMap((channel) =>
      [...channel].flatMap(([subscriber, member]) => (member?.user_id === userId ? [subscriber] : [])),
    );
    return [...new Set(found)];
  }

  #isPresent(name: string, { user_id }: Member): boolean {
    return this.getMembers(name).some((member) => member.user_id === user_id);
  }
}
