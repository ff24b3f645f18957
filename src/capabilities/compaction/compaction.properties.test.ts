// Random conversations in random windows: whatever is folded, the model can read what is left.
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { pickRuns } from '../../../tests/support/test-scale.ts';
import type { Part } from '../../messages/index.ts';
import { Message, MessageStore, SectionName, toolCallPart } from '../../messages/index.ts';
import { scriptedModel } from '../../testing/index.ts';
import { toSettings } from './options.ts';
import { createPlan, withMoved, withSummary } from './plan.ts';

const numRuns = pickRuns({ quick: 200, slow: 20_000 });

interface Round {
  readonly kind: 'user' | 'talk' | 'calls' | 'together' | 'react' | 'unanswered' | 'deferred';
  readonly calls: number;
  /** Tokens of each message of the round. */
  readonly tokens: number;
  /** Something said between a call and its results. */
  readonly aside: boolean;
  /** Ids that a provider uses again. */
  readonly reused: boolean;
}

const round: fc.Arbitrary<Round> = fc.record({
  kind: fc.constantFrom<Round['kind'][]>('user', 'talk', 'calls', 'calls', 'together', 'react', 'unanswered', 'deferred'),
  calls: fc.integer({ min: 1, max: 4 }),
  tokens: fc.integer({ min: 0, max: 30 }),
  aside: fc.boolean(),
  reused: fc.boolean(),
});

const createResult = (toolCallId: string) => ({ toolCallId, toolName: 'look', output: { type: 'text', value: 'seen' } as const });

function createMessages({ kind, calls, tokens, aside, reused }: Round, number: number): readonly Message[] {
  const options = (name: string, more = {}) => ({ id: `${number}-${name}`, metadata: { tokens, ...more } });
  const ids = Array.from({ length: calls }, (_, index) => (reused ? `call-${index}` : `call-${number}-${index}`));
  const createCallMessage = (more: readonly Part[] = []): Message =>
    Message.assistant([...ids.map((id) => toolCallPart({ id, name: 'look', args: {} })), ...more], options('asked'));
  const between = aside ? [Message.user('By the way …', options('aside'))] : [];
  const createObservation = (_: string, index: number): Message =>
    Message.user('Observation: 5', options(`o${index}`, { purpose: 'observation' }));
  switch (kind) {
    case 'user':
      return [Message.user('Please.', options('user'))];
    case 'talk':
      return [Message.user('Hello?', options('user')), Message.assistant('Hello.', options('said'))];
    case 'calls':
      return [createCallMessage(), ...between, ...ids.map((id, index) => Message.tool(createResult(id), options(`r${index}`)))];
    case 'together':
      return [createCallMessage(), ...between, Message.tool(ids.map(createResult), options('results'))];
    case 'react':
      return [Message.assistant('Action: look {}', options('acted')), ...between, ...ids.map(createObservation)];
    case 'unanswered':
      return [createCallMessage()];
    case 'deferred':
      return [
        createCallMessage(),
        ...between,
        Message.assistant(
          ids.map((id) => ({ type: 'tool-result', ...createResult(id) })),
          options('said'),
        ),
      ];
  }
}

/** The pairs of messages that belong together, by the ids of the messages. */
function listPairs(messages: readonly Message[]): readonly (readonly [string, string])[] {
  return messages.flatMap((message, index) => {
    const before = messages.slice(0, index).reverse();
    const callers = message.toolResults.flatMap(
      ({ toolCallId }) => before.find(({ toolCalls }) => toolCalls.some(({ id }) => id === toolCallId)) ?? [],
    );
    const speaker = message.metadata['purpose'] === 'observation' ? before.find((each) => each.isAssistant()) : undefined;
    return [...callers, ...(speaker === undefined ? [] : [speaker])].map(({ id }) => [id, message.id] as const);
  });
}

const estimateText = (message: Message): number => (message.metadata['tokens'] as number | undefined) ?? 3;
const sumTokens = (messages: readonly Message[]): number => messages.reduce((sum, message) => sum + estimateText(message), 0);
const listIds = (messages: Iterable<Message>): readonly string[] => [...messages].map(({ id }) => id);
const getSections = (store: MessageStore) =>
  [SectionName.Summary, SectionName.Buffer, SectionName.Messages].map((name) => store.section(name).toArray()) as [
    readonly Message[],
    readonly Message[],
    readonly Message[],
  ];

test('a folding keeps calls with their results, keeps the order, loses nothing, and leaves what fits or the least there can be', () => {
  const conversations = fc.record({
    // Messages come between one folding and the next.
    turns: fc.array(fc.array(round, { minLength: 1, maxLength: 5 }), { minLength: 1, maxLength: 6 }),
    maxTokens: fc.integer({ min: 1, max: 150 }),
    maxBufferTokens: fc.integer({ min: 1, max: 150 }),
    fails: fc.array(fc.boolean(), { minLength: 6, maxLength: 6 }),
  });
  fc.assert(
    fc.property(conversations, ({ turns, maxTokens, maxBufferTokens, fails }) => {
      const settings = toSettings({ model: scriptedModel([]), maxTokens, maxBufferTokens, countTokens: estimateText });
      let store = MessageStore.empty();
      let number = 0;
      const said: Message[] = [];
      const gone = new Set<string>();
      for (const [turn, rounds] of turns.entries()) {
        const added = rounds.flatMap((each) => createMessages(each, (number += 1)));
        said.push(...added);
        const goneBefore = new Set(gone);
        const before = store.append(SectionName.Messages, ...added);
        const plan = createPlan(before, settings);
        store = plan === undefined ? before : withMoved(before, plan);
        const isSummarized = plan !== undefined && plan.folded.length > 0 && fails[turn] === false;
        if (isSummarized) {
          for (const { id } of plan.folded) gone.add(id);
          store = withSummary(store, plan, Message.user('So far …', { id: `summary-${turn}`, metadata: { purpose: 'summary' } }));
        }
        const [summary, buffer, messages] = getSections(store);
        const left = [...buffer, ...messages];
        const pairs = listPairs(said);

        // Nothing is lost, nothing comes twice, and the order is kept.
        expect(listIds(left)).toStrictEqual(listIds(said).filter((id) => !gone.has(id)));
        expect(listIds(store.toMessages())).toStrictEqual(listIds([...summary, ...left]));
        expect(summary.length).toBe(gone.size === 0 ? 0 : 1);
        // The model reads either both of a pair or neither.
        expect(pairs.filter(([call, result]) => gone.has(call) !== gone.has(result))).toStrictEqual([]);
        // What left the window in this folding left it with all that belongs to it.
        const [, , window] = getSections(before);
        const moved = new Set(listIds(window).filter((id) => !listIds(messages).includes(id)));
        const inWindow = new Set(listIds(window));
        const parted = pairs.filter(
          ([call, result]) => inWindow.has(call) && inWindow.has(result) && moved.has(call) !== moved.has(result),
        );
        expect(parted).toStrictEqual([]);
        // The user's last words are read as they were said.
        const lastWords = said.findLast((message) => message.isUser() && message.metadata['purpose'] === undefined);
        expect(lastWords === undefined || listIds(left).includes(lastWords.id)).toBe(true);
        // What is left fits, or it is one message with what belongs to it: no cut inside it keeps every pair whole.
        const places = messages.flatMap((_, index) => {
          const ahead = new Set([...gone, ...listIds(buffer), ...listIds(messages.slice(0, index))]);
          return index > 0 && pairs.every(([call, result]) => ahead.has(call) === ahead.has(result)) ? [index] : [];
        });
        expect(sumTokens(messages) <= maxTokens || places.length === 0).toBe(true);
        // No more moved than had to.
        const first = messages[0];
        const start = first === undefined ? window.length : window.indexOf(first);
        if (start > 0) {
          expect(sumTokens(window)).toBeGreaterThan(maxTokens);
          const fewer = Array.from({ length: start - 1 }, (_, index) => index + 1).filter((place) => {
            const ahead = new Set([...goneBefore, ...listIds(getSections(before)[1]), ...listIds(window.slice(0, place))]);
            return pairs.every(([call, result]) => ahead.has(call) === ahead.has(result));
          });
          expect(fewer.filter((place) => sumTokens(window.slice(place)) <= maxTokens)).toStrictEqual([]);
        }
      }
    }),
    { numRuns },
  );
});
