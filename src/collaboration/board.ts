// The board: what collaborators have made together, in named artifacts with all their versions.
// Owns:     how it is kept in the conversation's store, in a section of its own that no model reads.
// B1. A version that was written stays: artifacts only grow.
// B2. Versions of an artifact count from 1 without a gap, in the order in which they were written.
import type { JsonObject } from '../lib/index.ts';
import { InvalidArgumentError, omitUndefined, parseJsonText, present } from '../lib/index.ts';
import type { MessageStore } from '../messages/index.ts';
import { Message } from '../messages/index.ts';

/** One version of an artifact. */
export interface ArtifactVersion {
  readonly version: number;
  readonly content: string;
  /** Participant who wrote it; absent if it came from outside. */
  readonly author?: string;
}

/** A named piece of work. */
export interface Artifact extends ArtifactVersion {
  readonly name: string;
  /** All versions, oldest first. */
  readonly versions: readonly ArtifactVersion[];
}

/** The section of the store in which the board is kept. */
const section = 'board';

// Models like to put a fence around their JSON.
const fence = /^\s*```(?:json)?\s*\n([\s\S]*?)\n```\s*$/;

// One line without anything that could begin another, because names stand in what models are told.
const nameForm = /^(?!\s)[^\p{C}\p{Zl}\p{Zp}]{1,100}(?<!\s)$/u;

/** Describes what is wrong with a name for an artifact. */
export const findArtifactNameProblem = (name: unknown): string | undefined =>
  typeof name === 'string' && nameForm.test(name) ? undefined : 'An artifact needs a name of 1 to 100 characters in one line.';

/** The work of the collaborators. Immutable: writing returns the next board. */
export class Board {
  readonly #artifacts: ReadonlyMap<string, readonly ArtifactVersion[]>;

  private constructor(artifacts: ReadonlyMap<string, readonly ArtifactVersion[]>) {
    this.#artifacts = artifacts;
  }

  /** The board that is kept in a store. */
  static in(store: MessageStore): Board {
    const artifacts = new Map<string, ArtifactVersion[]>();
    for (const { text, name, metadata } of store.section(section)) {
      const { artifact } = metadata;
      if (typeof artifact !== 'string') continue;
      const versions = artifacts.get(artifact) ?? [];
      // By its place: that is what a version is.
      versions.push(omitUndefined({ version: versions.length + 1, content: text, author: name }));
      artifacts.set(artifact, versions);
    }
    return new Board(artifacts);
  }

  /** The names of all artifacts, in the order in which they came. */
  get names(): readonly string[] {
    return [...this.#artifacts.keys()];
  }

  get artifacts(): readonly Artifact[] {
    return this.names.flatMap((name) => this.get(name) ?? []);
  }

  get isEmpty(): boolean {
    return this.#artifacts.size === 0;
  }

  /** Returns an artifact as it stands; undefined if there is none. */
  get(name: string): Artifact | undefined {
    const versions = this.#artifacts.get(name);
    const latest = versions?.at(-1);
    return versions === undefined || latest === undefined ? undefined : { name, ...latest, versions };
  }

  /** Returns the text of an artifact as it stands; undefined if there is none. */
  text(name: string): string | undefined {
    return this.get(name)?.content;
  }

  /** Returns an artifact as data: its JSON, even in a fence; its text if it is not JSON; undefined if there is none. */
  value(name: string): unknown {
    const text = this.text(name);
    const parsed = text === undefined ? undefined : parseJsonText(fence.exec(text)?.[1] ?? text);
    return parsed === undefined ? text : parsed;
  }

  /** The board with one more version of an artifact. */
  with(name: string, content: string, author?: string): Board {
    const versions = this.#artifacts.get(name) ?? [];
    const version = omitUndefined({ version: versions.length + 1, content, author });
    return new Board(new Map(this.#artifacts).set(name, [...versions, version]));
  }

  /** Every artifact as it stands. */
  toJSON(): JsonObject {
    return Object.fromEntries(this.artifacts.map(({ name, version, content, author }) => [name, present({ version, content, author })]));
  }
}

/** Something to put on the board. */
export interface BoardWrite {
  /** Of the message that keeps it. */
  readonly id: string;
  readonly artifact: string;
  readonly version: number;
  readonly content: string;
  readonly author?: string | undefined;
}

/** Returns the store with these writes on its board. */
export function withWrites(store: MessageStore, writes: readonly BoardWrite[]): MessageStore {
  const messages = writes.map(({ id, artifact, version, content, author: name }) =>
    Message.user(content, omitUndefined({ id, metadata: { artifact, version }, name })),
  );
  return store.append(section, ...messages);
}

/** Throws if an artifact cannot be put on a board. */
export function checkArtifact(name: unknown, content: unknown): void {
  const problem =
    findArtifactNameProblem(name) ??
    (typeof content === 'string' ? undefined : 'The content of an artifact must be a string. Write data as JSON text.');
  if (problem !== undefined) throw new InvalidArgumentError(problem);
}
