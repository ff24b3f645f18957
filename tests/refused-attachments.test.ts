// Attachments that a provider package refuses: the conversation goes on without them.
import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { createAgent } from '../src/entry/index.ts';
import { ErrorPolicy } from '../src/errors/index.ts';
import { createCountingIds, createFakeClock } from '../src/lib/index.ts';
import type { ContentPart } from '../src/messages/index.ts';
import { Message } from '../src/messages/index.ts';
import { createMemoryPlace, createSessionRuntime } from '../src/sessions/index.ts';
import { ToolUse, ToolUseState } from '../src/tool-use/index.ts';
import { defineTool } from '../src/tools/index.ts';
import { createFetchingModel, providerPackages } from './support/recordings/provider-models.ts';
import { toStream } from './support/recordings/staged-streams.ts';

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
        sent.push(typeof init?.body === 'string' ? init.body : '');
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

describe('a session with an agent on a real provider package', () => {
  const by = { id: 'ann', kind: 'user' } as const;
  const chunk = (delta: object, finish: string | null = null): object => ({
    id: 'c',
    object: 'chat.completion.chunk',
    created: 1,
    model: 'm',
    choices: [{ index: 0, delta, finish_reason: finish }],
  });
  const says = toStream([chunk({ content: 'Read.' }), chunk({}, 'stop'), '[DONE]']);

  function open(errors?: ErrorPolicy) {
    const place = createMemoryPlace();
    const sent: string[] = [];
    const model = createFetchingModel('openaiChat', (_url, init) => {
      sent.push(typeof init?.body === 'string' ? init.body : '');
      return Promise.resolve(new Response(says, { headers: { 'content-type': 'text/event-stream' } }));
    });
    const start = () =>
      createSessionRuntime({
        store: place.open(),
        agents: [createAgent({ id: 'a', model, ...(errors !== undefined && { errors }) })],
      });
    return { start, sent, place };
  }

  it('answers at once without the attachment if the policy retries', async () => {
    const { start, sent } = open(ErrorPolicy.retryAll(2).withBackoff({ baseMs: 0 }));
    const runtime = start();
    await runtime.create({ id: 'one' }, { by });
    const result = await runtime.send('one', [{ type: 'text', text: 'Read this.' }, zip], { by });
    expect([result.status, sent.length]).toEqual(['completed', 1]);
    expect(sent[0]).toContain('[attachment report.zip (application/zip) left out: ');
    await runtime.drain();
  });

  it('answers the next message, also after a restart, if the policy does not retry', async () => {
    const { start, sent } = open(ErrorPolicy.stopOnAnyError());
    const first = start();
    await first.create({ id: 'one' }, { by });
    const failed = await first.send('one', [{ type: 'text', text: 'Read this.' }, zip], { by });
    expect([failed.status, sent.length]).toEqual(['failed', 0]);
    expect(failed.explain()).toContain('report.zip (application/zip) at parts[1] of message');
    await first.drain();
    const second = start();
    expect((await second.send('one', 'Go on.', { by })).status).toBe('completed');
    expect((await second.send('one', 'And on.', { by })).status).toBe('completed');
    for (const body of sent) expect(body).toContain('[attachment report.zip (application/zip) left out: ');
    await second.drain();
  });

  it.each([ErrorPolicy.stopOnAnyError(), ErrorPolicy.retryAll(2).withBackoff({ baseMs: 0 })])(
    'keeps nothing of the attachment once its message is erased',
    async (errors) => {
      const { start, place } = open(errors);
      const runtime = start();
      await runtime.create({ id: 'one' }, { by });
      await runtime.send('one', [{ type: 'text', text: 'Read this.' }, zip], { by });
      const isKept = async (): Promise<boolean> => JSON.stringify(await place.open().log.entries('one')).includes('report.zip');
      expect(await isKept()).toBe(true);
      const [message] = (await runtime.get('one')).state.messages.toArray();
      await runtime.eraseMessage('one', message?.id ?? '', { by });
      expect(await isKept()).toBe(false);
      expect((await runtime.send('one', 'Go on.', { by })).status).toBe('completed');
      await runtime.drain();
    },
  );

  it.each<[string, ContentPart, string]>([
    ['an address that is not a URL', { type: 'file', url: 'report.pdf', mediaType: 'application/pdf' }, 'parts[0].url must be a URL'],
    ['an empty media type', { type: 'file', data: 'AAAA', mediaType: '' }, 'parts[0].mediaType must be a media type'],
    ['no data', { type: 'image', data: '' }, 'parts[0].data must be base64 data'],
    ['data that is not base64', { type: 'image', data: '<svg/>' }, 'parts[0].data must be base64 data, not "<svg/>"'],
    ['long data that is not base64', { type: 'image', data: ' '.repeat(1_000_000).concat('!') }, 'parts[0].data must be base64 data'],
  ])('refuses %s at send', async (_, part, problem) => {
    const { start, sent } = open();
    const runtime = start();
    await runtime.create({ id: 'one' }, { by });
    await expect(runtime.send('one', part, { by })).rejects.toThrow(problem);
    expect((await runtime.send('one', 'Hello.', { by })).status).toBe('completed');
    expect(sent).toHaveLength(1);
    await runtime.drain();
  });
});
