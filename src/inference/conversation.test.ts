import { describe, expect, test, vi } from 'vitest';
import { Message, Messages, Usage } from '../messages/index.ts';
import { askAbout, Conversation, readConversations } from './conversation.ts';
import type { Model, ModelOutcome, ModelRequest } from './model.ts';

const outcome: ModelOutcome = { ok: true, response: { parts: [{ type: 'text', text: 'Yes.' }], usage: Usage.none() } };
const system = Message.system('Be brief.');
const user = Message.user('Go.');

/** Creates a model that notes what it is given as messages. */
function createModel(): { readonly model: Model; readonly given: ModelRequest['messages'][] } {
  const given: ModelRequest['messages'][] = [];
  const take = ({ messages }: ModelRequest): Promise<ModelOutcome> => {
    given.push(messages);
    return Promise.resolve(outcome);
  };
  return {
    model: { provider: 'fake', modelId: 'fake-1', generate: (request) => take(request), stream: (request) => take(request) },
    given,
  };
}

describe('a conversation', () => {
  const conversation = new Conversation(Messages.of(user), [system]);

  test('is the instructions, then the messages', () => {
    expect([conversation.length, conversation.toArray()]).toEqual([2, [system, user]]);
  });

  test.each([['whole'], ['as a stream']])('is an array of its own for a model that is asked for the answer %s (V1)', async (way) => {
    const { model, given } = createModel();
    const onDelta = way === 'whole' ? undefined : (): void => undefined;
    for (let count = 0; count < 2; count += 1) await askAbout(model, { messages: conversation }, onDelta);
    expect(given).toEqual([
      [system, user],
      [system, user],
    ]);
    expect(given[0]).not.toBe(given[1]);
  });

  test('is given as it is to a function that reads conversations (V2)', async () => {
    const { model, given } = createModel();
    const read = vi.fn(() => Promise.resolve(outcome));
    readConversations(model.generate, read);
    const copies = vi.spyOn(conversation, 'toArray');
    await askAbout(model, { messages: conversation }, undefined);
    expect([copies.mock.calls.length, given.length]).toEqual([0, 0]);
    expect(read).toHaveBeenCalledExactlyOnceWith({ messages: conversation }, undefined);
  });

  test('is an array for a function that stands in the place of one that reads conversations (V3)', async () => {
    const { model, given } = createModel();
    const { generate } = model;
    readConversations(generate, () => Promise.reject(new Error('It went around the wrapper.')));
    await askAbout({ ...model, generate: createModel().model.generate }, { messages: conversation }, undefined);
    await askAbout({ ...model, generate: (request) => generate(request) }, { messages: conversation }, undefined);
    expect(given).toEqual([[system, user]]);
  });
});
