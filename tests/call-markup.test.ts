// A call that a model writes into its text beside the call: readers get the words around it, as they are streamed and as they are stored.
import { describe, expect, it } from 'vitest';
import { createAgent } from '../src/agent/index.ts';
import type { Envelope } from '../src/broadcasting/index.ts';
import { scriptedModel } from '../src/testing/index.ts';
import { createSignal, openAgUiSite } from './ag-ui/stage.ts';
import { ann, openSite } from './http/stage.ts';
import { isRest, readInto, View } from './http/view-reader.ts';
import { openChatSite } from './use-chat/stage.ts';
import { look } from './use-chat/tools.ts';

const call = '{"name":"look","arguments":{"at":"it"}}';

/** Name of the markup, text of an answer that also has the call, and the words of it that are for readers. */
const answers: readonly (readonly [string, string, string])[] = [
  ['<tool_call> alone', `<tool_call>\n${call}\n</tool_call>`, ''],
  ['<tool_call> behind words', `Let me look.\n<tool_call>\n${call}\n</tool_call>`, 'Let me look.\n'],
  ['<tool_call> between words', `Let me look. <tool_call>${call}</tool_call>One moment.`, 'Let me look. One moment.'],
  ['<function=…>', `Let me look. <function=look>{"at":"it"}</function>`, 'Let me look. '],
  ['<invoke>', 'Let me look. <function_calls><invoke name="look"></invoke></function_calls>', 'Let me look. '],
  ['[TOOL_CALLS]', `Let me look. [TOOL_CALLS][${call}]`, 'Let me look. '],
  ['<|tool_call|>', `Let me look. <|tool_call|>[${call}]<|/tool_call|>`, 'Let me look. '],
  ['<｜tool▁calls▁begin｜>', 'Let me look. <｜tool▁calls▁begin｜>look<｜tool▁calls▁end｜>', 'Let me look. '],
  ['JSON alone', call, ''],
  ['JSON in a fence', `\`\`\`json\n${call}\n\`\`\``, ''],
];

/** Writes a text in small pieces, and goes on once somebody has read them. */
async function* write(text: string, isRead?: Promise<undefined>): AsyncGenerator<string> {
  yield* text.match(/[^]{1,3}/g) ?? [];
  await isRead;
}

/** An agent that writes a text and calls a tool, then answers. */
function createDesk(text: string, isRead?: Promise<undefined>) {
  const toolCalls = [{ name: 'look', args: { at: 'it' } }];
  const model = scriptedModel([{ chunks: write(text, isRead), toolCalls }, { chunks: ['Two', ' cats.'] }]);
  return createAgent({ id: 'desk', model, tools: [look] });
}

const join = (texts: readonly unknown[]): string => texts.map((text) => (typeof text === 'string' ? text : '')).join('');

describe('a call that is written into the text beside the call does not reach', () => {
  it.each(answers)('readers of the event stream: %s', async (_, text, said) => {
    const { promise: isRead, resolve } = createSignal<undefined>();
    const site = await openSite({ agents: [createDesk(text, isRead)] });
    const id = await site.start(ann);
    await site.request(ann, 'POST', `/sessions/${id}/messages`, { text: 'Look.' });
    const envelopes: Envelope[] = [];
    const view = new View();
    await readInto(view, `${site.url}/sessions/${id}/events`, {
      headers: { 'x-caller': ann },
      isDone: (_view, envelope) => {
        envelopes.push(envelope);
        if (said === '' || view.openText !== '') resolve(undefined);
        return isRest(view, envelope);
      },
    });
    const streamed = envelopes.map(({ event, data }) => (event === 'agent.stream.chunk' && 'text' in data ? data['text'] : ''));
    // A step that ends before its last words are sent is sent as it is stored.
    expect(`${said}Two cats.`).toContain(join(streamed));
    expect([view.text, view.faults]).toEqual([`${said}Two cats.`, []]);
  });

  it.each(answers)('pages over AG-UI: %s', async (_, text, said) => {
    const site = await openAgUiSite({ agents: [createDesk(text)] });
    const page = site.openPage('one');
    const { events, outcome } = await page.run({ text: 'Look.' });
    const streamed = events.map(({ type, delta }) => (type === 'TEXT_MESSAGE_CONTENT' ? delta : ''));
    expect([outcome, join(streamed)]).toEqual(['success', `${said}Two cats.`]);
    const reloaded = site.openPage('one');
    await reloaded.run();
    for (const { agent } of [page, reloaded])
      expect(join(agent.messages.map(({ role, content }) => (role === 'assistant' ? content : '')))).toBe(`${said}Two cats.`);
  });

  it.each(answers)('pages with useChat: %s', async (_, text, said) => {
    const site = await openChatSite({ agent: createDesk(text) });
    const message = { id: 'm1', role: 'user', parts: [{ type: 'text', text: 'Look.' }] };
    const stream = await (await site.request('POST', '', { id: 'c1', messages: [message] })).text();
    const streamed = stream.split('\n\n').map((frame) => {
      const [, delta] = /^data: (\{"type":"text-delta".*)$/.exec(frame) ?? [];
      return delta === undefined ? '' : (JSON.parse(delta) as { readonly delta: string }).delta;
    });
    const [, stored] = await site.history('c1');
    const texts = stored?.parts.map((part) => (part.type === 'text' ? part.text : '')) ?? [];
    expect([join(streamed), join(texts)]).toEqual([`${said}Two cats.`, `${said}Two cats.`]);
  });
});
