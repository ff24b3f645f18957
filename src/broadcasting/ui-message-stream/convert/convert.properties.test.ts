import { convertToModelMessages, modelMessageSchema, safeValidateUIMessages } from 'ai';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { Json, JsonObject } from '../../../lib/index.ts';
import type { ContentPart, Part, ToolOutput } from '../../../messages/index.ts';
import { Message } from '../../../messages/index.ts';
import { pickRuns } from '../../../../tests/support/test-scale.ts';
import { fromModelMessages } from './from-model-messages.ts';
import { fromUIMessages } from './from-ui-messages.ts';
import { toModelMessages } from './to-model-messages.ts';
import { toUIMessages } from './to-ui-messages.ts';

const words = fc.string({ maxLength: 8, unit: 'grapheme' });
const json = fc.jsonValue({ maxDepth: 2 }).map((value) => JSON.parse(JSON.stringify(value)) as Json);
const extras = fc.oneof(fc.constant({}), fc.constant({ providerMetadata: { acme: { itemId: 'i1' } } }));
const source = fc.constantFrom({ data: 'AAAA' }, { url: 'https://files.example/a.bin' });

const textPart = fc.tuple(words, extras).map(([text, more]) => ({ type: 'text' as const, text, ...more }));
const filePart: fc.Arbitrary<ContentPart> = fc.oneof(
  fc
    .tuple(source, fc.constantFrom({}, { mediaType: 'image/png' }), extras)
    .map(([from, type, more]) => ({ type: 'image' as const, ...from, ...type, ...more })),
  fc
    .tuple(source, fc.constantFrom({ mediaType: 'text/plain' }, { mediaType: 'image/png', filename: 'a.png' }), extras)
    .map(([from, type, more]) => ({ type: 'file' as const, ...from, ...type, ...more })),
);
const content: fc.Arbitrary<ContentPart> = fc.oneof(textPart, filePart);
const reasoningPart = fc.tuple(words, extras).map(([text, more]) => ({ type: 'reasoning' as const, text, ...more }));
const plainContent: fc.Arbitrary<ContentPart> = fc.oneof(
  words.map((text) => ({ type: 'text' as const, text })),
  source.map((from) => ({ type: 'image' as const, mediaType: 'image/png', ...from })),
);

const output: fc.Arbitrary<ToolOutput> = fc.oneof(
  words.map((value) => ({ type: 'text' as const, value })),
  // A text that is stored as JSON reads the same.
  json.filter((value) => typeof value !== 'string').map((value) => ({ type: 'json' as const, value })),
  fc.array(plainContent, { minLength: 1, maxLength: 2 }).map((parts) => ({ type: 'content' as const, parts })),
  words.map((value) => ({ type: 'error' as const, value })),
  words.map((reason) => ({ type: 'rejected' as const, reason })),
);

const call = fc.record({ args: json, output: fc.option(output, { nil: undefined }), more: extras });

/** A message of the assistant with its calls, and the messages with their results. */
const step = fc
  .tuple(fc.array(fc.oneof(textPart, reasoningPart, filePart), { maxLength: 3 }), fc.array(call, { maxLength: 2 }))
  .filter(([parts, calls]) => parts.length + calls.length > 0)
  .map(([parts, calls]) => (number: number): Message[] => {
    const named = calls.map((each, index) => ({ ...each, id: `call-${number}-${index}` }));
    const called: Part[] = named.map(({ id, args, more }) => ({ type: 'tool-call', toolCallId: id, toolName: 'work', args, ...more }));
    const results = named.flatMap(({ id, output: given }) =>
      given === undefined ? [] : [{ toolCallId: id, toolName: 'work', output: given }],
    );
    return [Message.assistant([...parts, ...called]), ...results.map((result) => Message.tool(result))];
  });

const user = fc.tuple(fc.array(content, { minLength: 1, maxLength: 3 }), fc.constantFrom({}, { metadata: { from: 'page' } }));

const conversation = fc.array(fc.tuple(user, fc.array(step, { maxLength: 3 })), { maxLength: 3 }).map((turns) => {
  let number = 0;
  return turns.flatMap(([[parts, options], steps]) => [Message.user(parts, options), ...steps.flatMap((make) => make((number += 1)))]);
});

/** The part of messages that both sides can express: everything but ids. */
const toComparable = (messages: readonly Message[], keys: readonly string[] = ['id']): unknown =>
  messages.map((message) =>
    Object.fromEntries(Object.entries(JSON.parse(JSON.stringify(message)) as JsonObject).filter(([key]) => !keys.includes(key))),
  );

const runs = { numRuns: pickRuns({ quick: 150, slow: 3000 }) };

describe('converting messages', () => {
  it('loses nothing on the way to UI messages and back', async () => {
    await fc.assert(
      fc.asyncProperty(conversation, async (messages) => {
        const shown = JSON.parse(JSON.stringify(toUIMessages(messages))) as ReturnType<typeof toUIMessages>;
        expect(toComparable(fromUIMessages(shown))).toEqual(toComparable(messages));
        expect(
          fromUIMessages(shown)
            .filter((message) => message.isUser())
            .map(({ id }) => id),
        ).toEqual(messages.filter((message) => message.isUser()).map(({ id }) => id));
        if (shown.length > 0) expect(await safeValidateUIMessages({ messages: shown })).toMatchObject({ success: true });
      }),
      runs,
    );
  });

  it('loses nothing on the way to model messages and back', () => {
    fc.assert(
      fc.property(conversation, (messages) => {
        const sent = toModelMessages(messages);
        for (const message of sent) expect(modelMessageSchema.safeParse(message).success).toBe(true);
        expect(toComparable(fromModelMessages(sent), ['id', 'metadata'])).toEqual(toComparable(messages, ['id', 'metadata']));
      }),
      runs,
    );
  });

  it('says the same to a model whether the AI SDK converts UI messages or we do', async () => {
    const messages = [
      Message.user('Look.'),
      Message.assistant([
        { type: 'text', text: 'One moment.' },
        { type: 'tool-call', toolCallId: 'c1', toolName: 'look', args: { at: 'sky' } },
      ]),
      Message.tool({ toolCallId: 'c1', toolName: 'look', output: { type: 'json', value: { seen: 2 } } }),
      Message.assistant('Two.'),
    ];
    const theirs = await convertToModelMessages(toUIMessages(messages));
    expect(toComparable(fromModelMessages(theirs))).toEqual(toComparable(messages));
  });

  it('keeps instructions', () => {
    const messages = [Message.system('Be brief.'), Message.user('Hello')];
    expect(toComparable(fromModelMessages(toModelMessages(messages)))).toEqual(toComparable(messages));
    expect(toComparable(fromUIMessages(toUIMessages(messages)))).toEqual(toComparable(messages));
  });
});
