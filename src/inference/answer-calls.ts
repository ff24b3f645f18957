import type { IdSource } from '../lib/index.ts';
import { cleanText } from '../lib/index.ts';
import type { Part, ToolCall } from '../messages/index.ts';
import { toToolCall } from '../messages/index.ts';
import type { ModelResponse } from './model.ts';

/** Arguments of one call as they come. */
export interface ToolInput {
  /** Id under which the call is kept. */
  readonly id: string;
  /** Id that the provider gave. */
  readonly givenId: string;
  readonly name: string;
  /** True if the provider runs the tool itself: without its call, such arguments are dropped. */
  readonly isProviders: boolean;
  text: string;
  ended: boolean;
}

/** Takes warnings about what came. */
interface Reporter {
  warn(message: string): void;
}

/** The calls of one answer: each gets an id of its own, and its arguments never mix with those of another. */
export class AnswerCalls {
  readonly #newId: IdSource;
  readonly #reporter: Reporter;
  /** The provider's id of each call, by the id under which it is kept; undefined once a result has taken it. */
  readonly #givenIds = new Map<string, string | undefined>();
  /** Arguments that no call has taken, in the order of their start. */
  #inputs: ToolInput[] = [];
  /** Provider's ids of the calls that came. */
  readonly #called: string[] = [];

  constructor(newId: IdSource, reporter: Reporter) {
    this.#newId = newId;
    this.#reporter = reporter;
  }

  /** Returns the id under which a new call is kept: the provider's, or a new one if that is missing or taken. */
  assignId(given: string): string {
    const wanted = cleanText(given);
    let id = wanted;
    if (id === '' || this.#givenIds.has(id)) {
      const base = this.#newId();
      id = base;
      for (let count = 2; id === '' || this.#givenIds.has(id); count += 1) id = `${base}-${count}`;
      this.#reporter.warn(
        `A tool call came ${wanted === '' ? 'without an id' : `with the id "${wanted}" of another`}; it is kept as "${id}".`,
      );
    }
    this.#givenIds.set(id, given);
    return id;
  }

  /** Returns the id of the call that a result belongs to: the first with this provider's id that has no result yet. */
  takeId(given: string): string {
    const [id, next] = [...this.#givenIds].flatMap(([kept, provided]) => (provided === given ? [kept] : []));
    // The last one stays: a provider may send the same result again, more of it each time.
    if (id !== undefined && next !== undefined) this.#givenIds.set(id, undefined);
    return id ?? cleanText(given);
  }

  /** True if there are arguments that no call has taken. */
  get hasInputs(): boolean {
    return this.#inputs.length > 0;
  }

  startInput(givenId: string, name: string, isProviders = false): ToolInput {
    const id = isProviders ? givenId : this.assignId(givenId);
    const input: ToolInput = { id, givenId, name, isProviders, text: '', ended: false };
    this.#inputs.push(input);
    return input;
  }

  /** Returns the newest arguments under the provider's id that no call has taken. */
  findInput(givenId: string): ToolInput | undefined {
    return this.#inputs.findLast((input) => input.givenId === givenId);
  }

  /** True if pieces under the provider's id come too late: its call is complete. */
  isCalled(givenId: string): boolean {
    return this.#called.includes(givenId) && this.findInput(givenId) === undefined;
  }

  /** Hands the oldest arguments under the provider's id to their call. */
  takeInput(givenId: string): ToolInput | undefined {
    this.#called.push(givenId);
    if (this.#inputs.length === 0) return undefined;
    const index = this.#inputs.findIndex((input) => input.givenId === givenId);
    return index === -1 ? undefined : this.#inputs.splice(index, 1)[0];
  }

  /** Hands out the arguments that no call has taken, without those of the provider's own tools. */
  takeInputs(): readonly ToolInput[] {
    const rest = this.#inputs.filter(({ isProviders }) => !isProviders);
    this.#inputs = [];
    return rest;
  }
}

/** Returns the calls of an answer that are ours to run: not the provider's own, and without a result in the same answer. */
export function findPendingToolCalls({ parts }: Pick<ModelResponse, 'parts'>): readonly ToolCall[] {
  const calls: ToolCall[] = [];
  const answered = findAnsweredIds(parts);
  // By index, here and below: engines are slow at the iterators of frozen lists.
  for (let index = 0; index < parts.length; index += 1) {
    const part = parts[index];
    if (part?.type !== 'tool-call' || part.providerExecuted === true || answered?.has(part.toolCallId) === true) continue;
    calls.push(toToolCall(part));
  }
  return calls;
}

/** Ids of the calls whose results came in the same answer; undefined if there are none, as with most answers. */
function findAnsweredIds(parts: readonly Part[]): ReadonlySet<string> | undefined {
  let ids: Set<string> | undefined;
  for (let index = 0; index < parts.length; index += 1) {
    const part = parts[index];
    if (part?.type === 'tool-result') (ids ??= new Set()).add(part.toolCallId);
  }
  return ids;
}

function countCalls(parts: readonly Part[]): ReadonlyMap<string, number> {
  const counts = new Map<string, number>();
  for (const part of parts) if (part.type === 'tool-call') counts.set(part.toolCallId, (counts.get(part.toolCallId) ?? 0) + 1);
  return counts;
}

/** A call that shares its id with another one. */
interface SharedCall {
  readonly givenId: string;
  readonly id: string;
  readonly isProviders: boolean;
  hasResult: boolean;
}

/**
 * Returns the parts of an answer with a different id for each call: results and idempotency keys depend on it, and not every model
 * cares. A result belongs to the first call of its id that has none yet, and a result of the provider to a call that the provider ran.
 */
export function withUniqueIds(parts: readonly Part[]): readonly Part[] {
  const counts = countCalls(parts);
  if ([...counts.values()].every((count) => count === 1)) return parts;
  const taken = new Set<string>();
  const claimId = (givenId: string): string => {
    let id = givenId;
    for (let count = 2; taken.has(id) || (id !== givenId && counts.has(id)); count += 1) id = `${givenId}~${count}`;
    taken.add(id);
    return id;
  };
  const calls: SharedCall[] = [];
  const renamed = parts.map((part): Part => {
    if (part.type !== 'tool-call') return part;
    const id = claimId(part.toolCallId);
    calls.push({ givenId: part.toolCallId, id, isProviders: part.providerExecuted === true, hasResult: false });
    return { ...part, toolCallId: id };
  });
  return renamed.map((part): Part => {
    if (part.type !== 'tool-result') return part;
    const sharing = calls.filter(({ givenId }) => givenId === part.toolCallId);
    const alike = sharing.filter(({ isProviders }) => isProviders === (part.providerExecuted === true));
    const candidates = alike.length > 0 ? alike : sharing;
    const call = candidates.find(({ hasResult }) => !hasResult) ?? candidates.at(-1);
    if (call === undefined) return part;
    call.hasResult = true;
    return { ...part, toolCallId: call.id };
  });
}
