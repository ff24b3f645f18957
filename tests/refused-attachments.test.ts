// Attachments that a provider package refuses: the conversation goes on without them.
import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { ErrorPolicy } from '../src/errors/index.ts';
import { createCountingIds, createFakeClock } from '../src/lib/index.ts';
import type { ContentPart } from '../src/messages/index.ts';
import { Message } from '../src/messages/index.ts';
import { ToolUse, ToolUseState } from '../src/tool-use/index.ts';
import { defineTool } from '../src/tools/index.ts';
import { createFetchingModel, providerPackages } from './support/recordings/provider-models.ts';

const zip: ContentPart = { type: 'file', data: 'UEsDBA==', mediaType: 'application/zip', filename: 'report.zip' };
const attachments: readonly (readonly [string, ContentPart])[] = [
  ['a .zip', zip],
  ['a .zip by its address', { type: 'file', url: 'https://files.test/report.zip', mediaType: 'application/zip' }],
  ['a file of another provider', { type: 'file', id: 'file-1', mediaType: 'application/pdf' }],
  ['a PDF by its address', { type: 'file', url: 'https://files.test/report.pdf', mediaType: 'application/pdf' }],
  ['a film', { type: 'file', data: 'AAAA', mediaType: 'video/mp4' }],
  ['music', { type: 'file', data: 'AAAA', mediaType: 'audio/flac' }],
  ['a picture of a rare type', { type: 'image', data: 'AAAA', mediaType: 'image/x-rare' }],
  ['a picture of an unknown type', { type: 'image', data: 'AAAA' }],
  ['a file of the type "image"', { type: 'file', data: 'AAAA', mediaType: 'image' }],
  ['a file at an address for mail', { type: 'file', url: 'mailto:ann@files.test', mediaType: 'application/pdf' }],
];

type Origin = 'a person' | 'a tool' | 'the model';
const call = { id: 'call-1', name: 'look', args: {} };

function converse(origin: Origin, part: ContentPart): readonly Message[] {
  if (origin === 'a person') return [Message.user([{ type: 'text', text: 'Read this.' }, part], { id: 'sent' })];
  const asked = Message.user('Show me.', { id: 'asked' });
  if (origin === 'the model')
    return [asked, Message.assistant([{ type: 'text', text: 'Here.' }, part], { id: 'sent' }), Message.user('And now?', { id: 'last' })];
  const called = Message.assistant([{ type: 'tool-call', toolCallId: call.id, toolName: call.name, args: {} }], { id: 'called' });
  const output = { type: 'content', parts: [{ type: 'text', text: 'Seen.' }, part] } as const;
  return [asked, called, Message.tool({ toolCallId: call.id, toolName: call.name, output }, { id: 'sent' })];
}

const look = defineTool({ name: 'look', description: 'Looks.', input: z.object({}), run: () => 'Seen.' });
const path: Readonly<Record<Origin, string>> = { 'a person': 'parts[1]', 'a tool': 'parts[0].output.parts[1]', 'the model': 'parts[1]' };
const unauthorized = [{ code: 'unauthorized' }];

describe.each(providerPackages)('an attachment that the package of %s refuses', (name) => {
  const origins: readonly Origin[] = ['a person', 'a tool', 'the model'];
  // This one refuses every result of a tool.
  describe.each(origins.filter((origin) => name !== 'openaiCompletion' || origin !== 'a tool'))('from %s', (origin) => {
    it.each(attachments)('is named, and the next request has words in its place: %s', async (_, part) => {
      const sent: string[] = [];
      const model = createFetchingModel(name, (_url, init) => {
        sent.push(String(init?.body));
        return Promise.resolve(new Response('{}', { status: 401 }));
      });
      const ports = { clock: createFakeClock(), ids: createCountingIds() };
      const agent = new ToolUse({ model, tools: [look], ports, errors: ErrorPolicy.stopOnAnyError() });
      const messages = converse(origin, part);
      const first = await agent.nextStep(ToolUseState.empty(ports).withMessages(messages));
      if (sent.length === 0) {
        const refused = [{ messageId: 'sent', path: path[origin] }];
        expect(first.steps[0]?.errors).toMatchObject([{ code: 'attachment-refused', retryable: true, refusedParts: refused }]);
        expect(first.steps[0]?.errors[0]?.message).toContain(`${path[origin]} of message "sent"`);
        // Whoever goes on with it, in whatever process, goes on without it; the conversation still has it.
        const restored = ToolUseState.fromJSON(JSON.parse(JSON.stringify(first)));
        const next = await agent.nextStep(restored.withUserMessage('Go on.', ports));
        expect(next.steps.at(-1)?.errors).toMatchObject(unauthorized);
        expect(sent[0]).toContain('left out: ');
        expect(next.messages.slice(0, messages.length).map((message) => message.toJSON())).toEqual(
          messages.map((message) => message.toJSON()),
        );
      } else expect(first.steps[0]?.errors).toMatchObject(unauthorized);
      expect(sent).toHaveLength(1);
    });
  });
});
