import { describe, expect, it } from 'vitest';
import type { Part } from '../../messages/index.ts';
import { Message, Messages } from '../../messages/index.ts';
import { Conversation } from '../index.ts';
import type { PromptMessage } from './prompt.ts';
import type { Reader } from './to-file-part.ts';
import { PromptWriter } from './prompt-writer.ts';

const signature = { anthropic: { signature: 'abc' } };

interface Written {
  readonly prompt: readonly PromptMessage[];
  readonly warnings: readonly string[];
}

function prompt(messages: readonly Message[], { version = 'v4', provider = 'openai.responses' }: Partial<Reader> = {}): Written {
  const warnings: string[] = [];
  const conversation = new Conversation(Messages.from(messages));
  const written = new PromptWriter({ version, provider }).write(conversation, { warn: (message) => warnings.push(message) });
  return { prompt: written, warnings };
}

describe('a prompt', () => {
  it('gives instructions as system messages, developer ones too, with their options', () => {
    const cached = { anthropic: { cacheControl: { type: 'ephemeral' } } };
    expect(prompt([Message.system('Be brief.', { providerOptions: cached }), Message.developer('Be kind.')]).prompt).toEqual([
      { role: 'system', content: 'Be brief.', providerOptions: cached },
      { role: 'system', content: 'Be kind.' },
    ]);
  });

  it('keeps what a provider signed, part by part, and sends it back as options', () => {
    const parts: readonly Part[] = [
      { type: 'reasoning', text: '', providerMetadata: { openai: { itemId: 'rs_1', reasoningEncryptedContent: 'zzz' } } },
      { type: 'reasoning', text: 'Let me see.', providerMetadata: signature },
      { type: 'text', text: 'Here.', providerMetadata: { google: { thoughtSignature: 'sig' } } },
      {
        type: 'tool-call',
        toolCallId: '1',
        toolName: 'look',
        args: { at: 'it' },
        providerMetadata: { google: { thoughtSignature: 'sig2' } },
      },
    ];
    expect(prompt([Message.assistant(parts)]).prompt).toEqual([
      {
        role: 'assistant',
        content: [
          { type: 'reasoning', text: '', providerOptions: { openai: { itemId: 'rs_1', reasoningEncryptedContent: 'zzz' } } },
          { type: 'reasoning', text: 'Let me see.', providerOptions: signature },
          { type: 'text', text: 'Here.', providerOptions: { google: { thoughtSignature: 'sig' } } },
          {
            type: 'tool-call',
            toolCallId: '1',
            toolName: 'look',
            input: { at: 'it' },
            providerOptions: { google: { thoughtSignature: 'sig2' } },
          },
        ],
      },
    ]);
  });

  it.each([
    ['v4', { type: 'image', data: 'aGk=', mediaType: 'image/png' }, { data: { type: 'data', data: 'aGk=' }, mediaType: 'image/png' }],
    ['v4', { type: 'image', data: 'aGk=' }, { data: { type: 'data', data: 'aGk=' }, mediaType: 'image/*' }],
    [
      'v4',
      { type: 'image', url: 'https://x.org/a.JPG?s=1' },
      { data: { type: 'url', url: new URL('https://x.org/a.JPG?s=1') }, mediaType: 'image/jpeg' },
    ],
    ['v4', { type: 'image', url: 'data:image/webp;base64,aGk=' }, { data: { type: 'data', data: 'aGk=' }, mediaType: 'image/webp' }],
    [
      'v4',
      { type: 'file', id: 'file-1', mediaType: 'application/pdf', filename: 'a.pdf' },
      { data: { type: 'reference', reference: { openai: 'file-1' } }, mediaType: 'application/pdf', filename: 'a.pdf' },
    ],
    [
      'v4',
      { type: 'file', url: 'gs://Bucket/a', mediaType: 'video/mp4' },
      { data: { type: 'url', url: new URL('gs://Bucket/a') }, mediaType: 'video/mp4' },
    ],
    ['v3', { type: 'image', data: 'aGk=', mediaType: 'image/png' }, { data: 'aGk=', mediaType: 'image/png' }],
    [
      'v3',
      { type: 'file', url: 'https://x.org/a.pdf', mediaType: 'application/pdf' },
      { data: new URL('https://x.org/a.pdf'), mediaType: 'application/pdf' },
    ],
    ['v3', { type: 'file', id: 'file-1', mediaType: 'application/pdf' }, { data: 'file-1', mediaType: 'application/pdf' }],
  ] as const)('shows a user’s file to %s: %j', (version, part, expected) => {
    expect(prompt([Message.user([part])], { version }).prompt).toEqual([{ role: 'user', content: [{ type: 'file', ...expected }] }]);
  });

  it('joins the results of one turn, in each form that a result has', () => {
    const messages = [
      Message.tool({ toolCallId: '1', toolName: 'a', output: { type: 'text', value: 'yes' } }),
      Message.tool({ toolCallId: '2', toolName: 'b', output: { type: 'json', value: [1] } }, { providerOptions: { anthropic: { x: 1 } } }),
      Message.tool({ toolCallId: '3', toolName: 'c', output: { type: 'error', value: 'no' } }),
      Message.tool({ toolCallId: '4', toolName: 'd', output: { type: 'rejected', reason: 'not today' } }),
      Message.tool({ toolCallId: '5', toolName: 'e', output: { type: 'rejected', reason: '' } }),
    ];
    const [tool, ...rest] = prompt(messages).prompt;
    expect(rest).toEqual([]);
    expect(tool?.role).toBe('tool');
    expect(tool?.content).toEqual([
      { type: 'tool-result', toolCallId: '1', toolName: 'a', output: { type: 'text', value: 'yes' } },
      {
        type: 'tool-result',
        toolCallId: '2',
        toolName: 'b',
        output: { type: 'json', value: [1] },
        providerOptions: { anthropic: { x: 1 } },
      },
      { type: 'tool-result', toolCallId: '3', toolName: 'c', output: { type: 'error-text', value: 'no' } },
      { type: 'tool-result', toolCallId: '4', toolName: 'd', output: { type: 'execution-denied', reason: 'not today' } },
      { type: 'tool-result', toolCallId: '5', toolName: 'e', output: { type: 'execution-denied' } },
    ]);
  });

  it.each([
    [
      'v4',
      [
        { type: 'text', text: 'See:' },
        { type: 'file', data: { type: 'data', data: 'aGk=' }, mediaType: 'image/png' },
        { type: 'file', data: { type: 'url', url: new URL('https://x.org/a.pdf') }, mediaType: 'application/pdf' },
        { type: 'custom', providerOptions: { anthropic: { type: 'tool-reference', toolName: 'x' } } },
      ],
    ],
    [
      'v3',
      [
        { type: 'text', text: 'See:' },
        { type: 'image-data', data: 'aGk=', mediaType: 'image/png' },
        { type: 'file-url', url: 'https://x.org/a.pdf' },
        { type: 'custom', providerOptions: { anthropic: { type: 'tool-reference', toolName: 'x' } } },
      ],
    ],
  ] as const)('shows the parts of a result to %s', (version, expected) => {
    const output = {
      type: 'content',
      parts: [
        { type: 'text', text: 'See:' },
        { type: 'image', data: 'aGk=', mediaType: 'image/png' },
        { type: 'file', url: 'https://x.org/a.pdf', mediaType: 'application/pdf' },
        { type: 'text', text: '', providerMetadata: { anthropic: { type: 'tool-reference', toolName: 'x' } } },
      ],
    } as const;
    expect(prompt([Message.tool({ toolCallId: '1', toolName: 'a', output })], { version }).prompt).toEqual([
      { role: 'tool', content: [{ type: 'tool-result', toolCallId: '1', toolName: 'a', output: { type: 'content', value: expected } }] },
    ]);
  });

  it('says results in words where the form of chat takes nothing else, and shows their files after them', () => {
    const picture = { type: 'image', data: 'aGk=', mediaType: 'image/png' } as const;
    const messages = [
      Message.tool({ toolCallId: '1', toolName: 'a', output: { type: 'content', parts: [{ type: 'text', text: 'See:' }, picture] } }),
      Message.tool({ toolCallId: '2', toolName: 'b', output: { type: 'text', value: 'yes' } }),
      Message.user('Well?'),
    ];
    expect(prompt(messages, { provider: 'openai.chat' }).prompt).toEqual([
      {
        role: 'tool',
        content: [
          { type: 'tool-result', toolCallId: '1', toolName: 'a', output: { type: 'text', value: 'See:\n[image image/png]' } },
          { type: 'tool-result', toolCallId: '2', toolName: 'b', output: { type: 'text', value: 'yes' } },
        ],
      },
      {
        role: 'user',
        content: [
          { type: 'text', text: 'What a returned:' },
          { type: 'file', data: { type: 'data', data: 'aGk=' }, mediaType: 'image/png' },
        ],
      },
      { role: 'user', content: [{ type: 'text', text: 'Well?' }] },
    ]);
  });

  it('gives a result what its call was given, beside what it has of its own', () => {
    const messages = [
      Message.assistant([
        {
          type: 'tool-call',
          toolCallId: '1',
          toolName: 'a',
          args: {},
          providerMetadata: { openai: { itemId: 'fc_1', caller: { type: 'direct' } } },
        },
      ]),
      Message.tool({
        toolCallId: '1',
        toolName: 'a',
        output: { type: 'text', value: 'x' },
        providerMetadata: { openai: { additionalTools: [] } },
      }),
    ];
    expect(prompt(messages).prompt[1]).toMatchObject({
      content: [{ providerOptions: { openai: { itemId: 'fc_1', caller: { type: 'direct' }, additionalTools: [] } } }],
    });
  });

  it('sends what a provider’s own tool did back inside of the answer', () => {
    const parts: readonly Part[] = [
      { type: 'tool-call', toolCallId: '1', toolName: 'web_search', args: { query: 'x' }, providerExecuted: true },
      {
        type: 'tool-result',
        toolCallId: '1',
        toolName: 'web_search',
        output: { type: 'error', value: '{"errorCode":"unavailable"}' },
        providerExecuted: true,
      },
      { type: 'source', sourceType: 'url', id: 's', url: 'https://x.org' },
    ];
    expect(prompt([Message.assistant(parts)]).prompt[0]?.content).toEqual([
      { type: 'tool-call', toolCallId: '1', toolName: 'web_search', input: { query: 'x' }, providerExecuted: true },
      { type: 'tool-result', toolCallId: '1', toolName: 'web_search', output: { type: 'error-json', value: { errorCode: 'unavailable' } } },
    ]);
  });

  it('sends a provider’s own parts back to that provider only, and asks nobody for an approval twice', () => {
    const custom: Part = {
      type: 'provider',
      provider: 'openai.responses',
      data: { type: 'custom', kind: 'openai.compaction' },
      providerMetadata: { openai: { itemId: 'c' } },
    };
    const drawn: Part = {
      type: 'provider',
      provider: 'google.generative-ai',
      data: { type: 'reasoning-file', mediaType: 'image/png', data: { type: 'data', data: 'aGk=' } },
    };
    const asked: Part = {
      type: 'provider',
      provider: 'openai.responses',
      data: { type: 'tool-approval-request', approvalId: 'a', toolCallId: '1' },
    };
    const granted: Part = {
      type: 'provider',
      provider: 'openai',
      data: { type: 'tool-approval-response', approvalId: 'a', approved: true },
    };
    const messages = [Message.assistant([custom, drawn, asked]), Message.of('tool', [granted])];
    expect(prompt(messages).prompt).toEqual([
      { role: 'assistant', content: [{ type: 'custom', kind: 'openai.compaction', providerOptions: { openai: { itemId: 'c' } } }] },
      { role: 'tool', content: [{ type: 'tool-approval-response', approvalId: 'a', approved: true }] },
    ]);
    expect(prompt([Message.assistant([drawn])], { provider: 'google.vertex' }).prompt[0]?.content).toEqual([
      { type: 'reasoning-file', mediaType: 'image/png', data: { type: 'data', data: 'aGk=' } },
    ]);
  });

  it('leaves out what it cannot say, and says so', () => {
    const odd: Part = { type: 'provider', provider: 'openai', data: { type: 'brand-new' } };
    const { prompt: written, warnings } = prompt([
      Message.assistant([odd]),
      Message.user([{ type: 'reasoning', text: 'hm' }]),
      Message.user(''),
    ]);
    expect(written).toEqual([]);
    expect(warnings).toHaveLength(2);
  });

  it('sends no arguments that were no JSON', () => {
    const broken: Part = { type: 'tool-call', toolCallId: '1', toolName: 'a', args: null, rawArgs: '{"x":' };
    expect(prompt([Message.assistant([broken])]).prompt[0]?.content).toEqual([
      { type: 'tool-call', toolCallId: '1', toolName: 'a', input: {} },
    ]);
  });
});
