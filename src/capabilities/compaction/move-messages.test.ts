import { describe, expect, test } from 'vitest';
import { Message, toolCallPart } from '../../messages/index.ts';
import { listCuts, findBegin } from './move-messages.ts';

/**
 * A conversation in short: u a user, a an assistant, s a system message; A12 calls 1 and 2, r1 is the result of 1, R12 both results in
 * one message, o an observation, P1 a call of the provider's with its result beside it.
 */
function conversation(short: string): readonly Message[] {
  const result = (id: string) => ({ toolCallId: id, toolName: 'look', output: { type: 'text', value: `seen ${id}` } as const });
  const call = (id: string) => toolCallPart({ id, name: 'look', args: {} });
  return short.split(' ').map((word, index) => {
    const id = `m${index}`;
    const calls = [...word.slice(1)];
    switch (word[0]) {
      case 'u':
        return Message.user('Hello.', { id });
      case 'a':
        return Message.assistant('Hello.', { id });
      case 's':
        return Message.system('Be kind.', { id });
      case 'o':
        return Message.user('Observation: 5', { id, metadata: { purpose: 'observation' } });
      case 'A':
        return Message.assistant(calls.map(call), { id });
      case 'P':
        return Message.assistant(
          calls.flatMap((each) => [
            { ...call(each), providerExecuted: true },
            { type: 'tool-result', ...result(each) },
          ]),
          { id },
        );
      default:
        return Message.tool(calls.map(result), { id });
    }
  });
}

describe('a conversation can be cut', () => {
  test.each<[string, string, readonly number[]]>([
    ['between messages', 'u a u', [0, 1, 2, 3]],
    ['not between a call and its result', 'u A1 r1 a', [0, 1, 3, 4]],
    ['not between the results of several calls', 'u A123 r1 r2 r3 a', [0, 1, 5, 6]],
    ['not where several results are one message', 'u A12 R12 a', [0, 1, 3, 4]],
    ['not where something was said in between', 'u A1 u a r1 a', [0, 1, 5, 6]],
    ['not where calls and results overlap', 'A1 A2 r1 r2 a', [0, 4, 5]],
    ['between one call with its result and the next', 'A1 r1 A2 r2', [0, 2, 4]],
    ['between two calls with the same id, each with its own result', 'A1 r1 A1 r1', [0, 2, 4]],
    ['not between an answer and what was observed of it', 'u a o a o a', [0, 1, 3, 5, 6]],
    ['not between several observations', 'u a o o a', [0, 1, 4, 5]],
    ['behind a call that has no result', 'u A1 u a', [0, 1, 2, 3, 4]],
    ['around a result that has no call', 'u r1 a', [0, 1, 2, 3]],
    ['before an observation that nobody spoke for', 'u o a', [0, 1, 2, 3]],
    ['behind an answer that holds its results itself', 'u P1 a', [0, 1, 2, 3]],
    ['around instructions', 's u a', [0, 1, 2, 3]],
  ])('%s: %s', (_, short, cuts) => {
    expect(listCuts(conversation(short))).toStrictEqual(cuts);
  });

  test('nowhere but around it, where it is empty', () => {
    expect(listCuts([])).toStrictEqual([0]);
  });
});

describe('the window', () => {
  // Every message takes 10 tokens.
  test.each<[string, string, { readonly begin?: number; readonly maxTokens: number }, number]>([
    ['stays where everything fits', 'u a u a', { maxTokens: 40 }, 0],
    ['moves by as little as makes the rest fit', 'u a u a', { maxTokens: 39 }, 1],
    ['moves by several messages', 'u a u a', { maxTokens: 20 }, 2],
    ['keeps the newest message, however large', 'u a u a', { maxTokens: 9 }, 3],
    ['keeps a single message, however large', 'u', { maxTokens: 9 }, 0],
    ['takes a call and its result along', 'u A1 r1 a u', { maxTokens: 35 }, 3],
    ['takes a call and all its results along', 'u A12 r1 r2 a u', { maxTokens: 49 }, 4],
    ['keeps a call whose result would not be left behind', 'u a A1 r1', { maxTokens: 20 }, 2],
    ['keeps the newest call with its results, however large', 'u a A12 r1 r2', { maxTokens: 20 }, 2],
    ['takes an answer and its observation along', 'u a o a o', { maxTokens: 29 }, 3],
    ['keeps the newest answer with its observation', 'u a o a o', { maxTokens: 10 }, 3],
    ['goes on from where it began', 'u a u a u a', { begin: 2, maxTokens: 20 }, 4],
    ['does not count what has left it', 'u a u a u a', { begin: 2, maxTokens: 40 }, 2],
    ['lets a result follow its call that has left it before', 'u A1 r1 u a', { begin: 2, maxTokens: 29 }, 3],
    ['stays where all that is left belongs together', 'u A12 r1 r2', { begin: 2, maxTokens: 5 }, 2],
    ['of nothing stays', 'u a', { begin: 2, maxTokens: 5 }, 2],
  ])('%s: %s', (_, short, { begin = 0, maxTokens }, expected) => {
    expect(findBegin({ conversation: conversation(short), begin, maxTokens, count: () => 10 })).toBe(expected);
  });
});
