import { describe, expect, test, vi } from 'vitest';
import type { Failure } from '../errors/index.ts';
import { createCountingIds } from '../lib/index.ts';
import type { Part } from '../messages/index.ts';
import { textPart } from '../messages/index.ts';
import type { ModelDelta, ModelNotice, ModelOutcome, ModelRequest, ModelResponse } from './model.ts';
import { findPendingToolCalls } from './answer-calls.ts';
import type { ResponseBuilder } from './response-builder.ts';
import { createResponseBuilder } from './response-builder.ts';

const failure: Failure = { type: 'rate_limit', code: 'rate-limited', message: 'slow down', retryable: true };
const tools: ModelRequest['tools'] = [{ name: 'search', description: '', inputSchema: {} }];

interface Built {
  readonly outcome: ModelOutcome;
  readonly response: ModelResponse;
  readonly parts: readonly Part[];
  readonly deltas: readonly ModelDelta[];
  readonly warnings: readonly string[];
}

function build(script: (builder: ResponseBuilder) => void, request: Partial<ModelRequest> = {}, aborted = false): Built {
  const deltas: ModelDelta[] = [];
  const warnings: string[] = [];
  const onNotice = (notice: ModelNotice): void => {
    if (notice.type === 'warning') warnings.push(`${notice.model}: ${notice.message}`);
  };
  const builder = createResponseBuilder({
    ids: createCountingIds('new'),
    model: 'a/b',
    request: { ...request, onNotice },
    onDelta: (delta) => deltas.push(delta),
  });
  script(builder);
  const outcome = builder.outcome({ aborted });
  const response = outcome.ok ? outcome.response : outcome.partial;
  return { outcome, response, parts: response.parts, deltas, warnings };
}

const listDeltas = (deltas: readonly ModelDelta[], type: 'text' | 'reasoning'): readonly string[] =>
  deltas.flatMap((delta) => (delta.type === type ? [delta.text] : []));
const findFailure = ({ outcome }: Built): Failure | undefined => (outcome.ok ? undefined : outcome.failure);

describe('parts', () => {
  test('pieces of one id are one part, however they mix with others (A1)', () => {
    const { parts, deltas } = build((b) => {
      b.text('a1', 'a');
      b.text('b1', 'b');
      b.text('a2', 'a');
      b.reasoning('r1', 'r');
      b.text('b2', 'b');
      b.reasoning('r2', 'r');
      b.finish('stop');
    });
    expect(parts).toStrictEqual([textPart('a1a2'), textPart('b1b2'), { type: 'reasoning', text: 'r1r2' }]);
    expect(listDeltas(deltas, 'text')).toStrictEqual(['a1', 'b1', 'a2', 'b2']);
  });

  test('pieces without id are one part as long as nothing comes between', () => {
    const { parts } = build((b) => {
      b.text('a');
      b.text('b');
      b.reasoning('c');
      b.text('d');
      b.finish('stop');
    });
    expect(parts).toStrictEqual([textPart('ab'), { type: 'reasoning', text: 'c' }, textPart('d')]);
  });

  test('an id that has ended begins another part', () => {
    const { parts } = build((b) => {
      b.text('a', '0');
      b.textEnd('0');
      b.toolCall({ id: 'x', name: 'search', input: '{}' });
      b.text('b', '0');
      b.textEnd('0');
      b.finish('stop');
    });
    expect(parts.map(({ type }) => type)).toStrictEqual(['text', 'tool-call', 'text']);
  });

  test('metadata stays with its part; the last word counts (M10)', () => {
    const { parts } = build((b) => {
      b.reasoning('', 'r', { anthropic: { redacted: 'x' } });
      b.reasoning('hm', 's', { openai: { id: 1 } });
      b.reasoning('', 's', { openai: { id: 1, signature: 'sig' } });
      b.reasoningEnd('s');
      b.text('hi', 't', { google: { a: 1 } });
      b.textEnd('t', { google: { a: 2 } });
      b.toolCall({ id: 'c', name: 'search', input: '{}', providerMetadata: { google: { thought: 'y' } } });
      b.finish('stop');
    });
    expect(parts).toStrictEqual([
      { type: 'reasoning', text: '', providerMetadata: { anthropic: { redacted: 'x' } } },
      { type: 'reasoning', text: 'hm', providerMetadata: { openai: { id: 1, signature: 'sig' } } },
      { type: 'text', text: 'hi', providerMetadata: { google: { a: 2 } } },
      { type: 'tool-call', toolCallId: 'c', toolName: 'search', args: {}, providerMetadata: { google: { thought: 'y' } } },
    ]);
  });

  test('nothing is told and no part is made of nothing', () => {
    const { parts, deltas } = build((b) => {
      b.text('', 'a');
      b.reasoning('', 'r');
      b.text('hi', 'b');
      b.finish('stop');
    });
    expect(parts).toStrictEqual([textPart('hi')]);
    expect(deltas).toStrictEqual([{ type: 'text', text: 'hi' }]);
  });

  test('files, sources and what only the provider understands are kept as they came (M9)', () => {
    const source = { type: 'source', sourceType: 'url', id: 's', url: 'https://example.com' } as const;
    const file = { type: 'file', mediaType: 'image/png', data: 'AAAA' } as const;
    const opaque = { type: 'provider', provider: 'openai', data: { kind: 'new' } } as const;
    const { parts, outcome } = build((b) => {
      b.part(source);
      b.part(opaque);
      b.part(file);
      b.finish('stop');
    });
    expect(parts).toStrictEqual([source, opaque, file]);
    expect(outcome.ok).toBe(true);
  });

  test('what cannot be kept is left out with a warning', () => {
    const { parts, warnings } = build((b) => {
      b.text('hi', 'a', { bytes: new Uint8Array(2) } as never);
      b.part({ type: 'provider', provider: 'x', data: new Map() as never });
      b.finish('stop');
    });
    expect(parts).toStrictEqual([textPart('hi')]);
    expect(warnings).toHaveLength(2);
    expect(warnings[0]).toMatch(/^a\/b: .*bytes/);
  });

  test('a surrogate pair that was cut in two is whole again; a broken one is replaced (A4)', () => {
    const { parts } = build((b) => {
      b.text('\ud83d');
      b.text('\ude00 \ud83d');
      b.finish('stop');
    });
    expect(parts).toStrictEqual([textPart('\u{1F600} \uFFFD')]);
  });
});

describe('tool calls', () => {
  test('arguments of parallel calls never mix, and are never text (C50)', () => {
    const { parts, deltas } = build((b) => {
      b.toolInputStart('a', 'search');
      b.toolInputStart('b', 'fetch');
      b.toolInputDelta('a', '{"q":');
      b.toolInputDelta('b', '{"u":');
      b.toolInputDelta('a', '1}');
      b.toolInputDelta('b', '2}');
      b.toolInputEnd('b');
      b.toolInputEnd('a');
      b.toolCall({ id: 'a', name: 'search' });
      b.toolCall({ id: 'b', name: 'fetch', input: '' });
      b.finish('tool-calls');
    });
    expect(findPendingToolCalls({ parts })).toStrictEqual([
      { id: 'a', name: 'search', args: { q: 1 } },
      { id: 'b', name: 'fetch', args: { u: 2 } },
    ]);
    expect(deltas.filter(({ type }) => type !== 'tool-input')).toStrictEqual([]);
    expect(deltas[2]).toStrictEqual({ type: 'tool-input', toolCallId: 'a', toolName: 'search', text: '{"q":' });
  });

  test('the whole input wins over its pieces', () => {
    const { parts } = build((b) => {
      b.toolInputStart('a', 'search');
      b.toolInputDelta('a', '{"q":1');
      b.toolCall({ id: 'a', name: 'search', input: '{"q":1}' });
      b.finish('tool-calls');
    });
    expect(findPendingToolCalls({ parts })).toStrictEqual([{ id: 'a', name: 'search', args: { q: 1 } }]);
  });

  test('a call that came only as pieces is kept; where the answer broke off, its arguments stay text', () => {
    const script = (b: ResponseBuilder): void => {
      b.toolInputStart('a', 'search');
      b.toolInputDelta('a', '{}');
      b.toolInputEnd('a');
      b.toolInputStart('b', 'search');
      b.toolInputDelta('b', '');
    };
    const whole = build((b) => {
      script(b);
      b.finish('tool-calls');
    });
    expect(findPendingToolCalls(whole.response).map(({ args }) => args)).toStrictEqual([{}, {}]);
    const broken = build(script);
    expect(findPendingToolCalls(broken.response)).toStrictEqual([
      { id: 'a', name: 'search', args: {} },
      { id: 'b', name: 'search', args: null, rawArgs: '' },
    ]);
  });

  test('a call without any arguments cannot be read where the answer was cut short (A5)', () => {
    const script = (b: ResponseBuilder): void => {
      b.toolCall({ id: 'a', name: 'search', input: '' });
      b.toolInputStart('b', 'search');
      b.toolInputEnd('b');
      b.toolCall({ id: 'b', name: 'search' });
      b.toolInputStart('c', 'search');
      b.toolInputEnd('c');
      b.toolCall({ id: 'd', name: 'search', input: {} });
      b.toolCall({ id: 'e', name: 'web', input: '', providerExecuted: true });
    };
    const argsAfter = (word: string | undefined): Built & { readonly args: unknown } => {
      const built = build((b) => {
        script(b);
        if (word !== undefined) b.finish(word);
      });
      const calls = built.parts.flatMap((part) => (part.type === 'tool-call' ? [part] : []));
      return { ...built, args: Object.fromEntries(calls.map(({ toolCallId, args, rawArgs }) => [toolCallId, rawArgs ?? args])) };
    };
    for (const word of ['stop', 'tool-calls']) {
      expect(argsAfter(word)).toMatchObject({ args: { a: {}, b: {}, c: {}, d: {}, e: {} }, warnings: [] });
    }
    for (const word of ['length', 'interrupted', undefined]) {
      const { args, warnings, parts } = argsAfter(word);
      expect(args).toStrictEqual({ a: '', b: '', c: '', d: {}, e: {} });
      expect(parts[0]).toMatchObject({ args: null, rawArgs: '' });
      expect(warnings).toStrictEqual(
        Array.from({ length: 3 }, () => 'a/b: The answer was cut short before any arguments of "search" came; the call cannot be read.'),
      );
    }
  });

  test('an id that is empty or taken is replaced, with a warning (M5)', () => {
    const { parts, deltas, warnings } = build((b) => {
      b.toolCall({ id: 'a', name: 'one', input: '{"n":1}' });
      b.toolInputStart('a', 'two');
      b.toolInputDelta('a', '{"n":2}');
      b.toolCall({ id: 'a', name: 'two' });
      b.toolCall({ id: '', name: 'three', input: '{"n":3}' });
      b.toolCall({ name: 'four', input: '{"n":4}' });
      b.toolCall({ id: 'new-1', name: 'five', input: '{"n":5}' });
      b.finish('tool-calls');
    });
    expect(findPendingToolCalls({ parts }).map(({ id, name, args }) => [id, name, args])).toStrictEqual([
      ['a', 'one', { n: 1 }],
      ['new-1', 'two', { n: 2 }],
      ['new-2', 'three', { n: 3 }],
      ['new-3', 'four', { n: 4 }],
      ['new-4', 'five', { n: 5 }],
    ]);
    expect(deltas.map((delta) => (delta.type === 'tool-input' ? delta.toolCallId : ''))).toStrictEqual(['new-1', 'new-1']);
    expect(warnings).toStrictEqual([
      'a/b: A tool call came with the id "a" of another; it is kept as "new-1".',
      'a/b: A tool call came without an id; it is kept as "new-2".',
      'a/b: A tool call came without an id; it is kept as "new-3".',
      'a/b: A tool call came with the id "new-1" of another; it is kept as "new-4".',
    ]);
  });

  test('two calls under one id that come at the same time are two calls', () => {
    const { parts } = build((b) => {
      b.toolInputStart('a', 'one');
      b.toolInputDelta('a', '1');
      b.toolInputStart('a', 'two');
      b.toolInputDelta('a', '2');
      b.toolCall({ id: 'a', name: 'one' });
      b.toolCall({ id: 'a', name: 'two' });
      b.finish('tool-calls');
    });
    expect(findPendingToolCalls({ parts }).map(({ id, name, args }) => [id, name, args])).toStrictEqual([
      ['a', 'one', 1],
      ['new-1', 'two', 2],
    ]);
  });

  test('an id source that repeats itself, or says nothing, is made do with', () => {
    const builder = createResponseBuilder({ ids: () => '' });
    for (const name of ['one', 'two', 'three']) builder.toolCall({ id: '', name });
    builder.finish('stop');
    const outcome = builder.outcome();
    expect(outcome.ok && findPendingToolCalls(outcome.response).map(({ id }) => id)).toStrictEqual(['-2', '-3', '-4']);
  });

  test('what the provider ran itself is not left to do; its result finds its call (M4)', () => {
    const output = { type: 'text', value: 'found' } as const;
    const { parts } = build((b) => {
      b.toolCall({ id: '', name: 'web', input: '{}', providerExecuted: true });
      b.toolResult({ toolCallId: '', toolName: 'web', output: { type: 'text', value: 'half' }, providerExecuted: true });
      b.toolResult({ toolCallId: '', toolName: 'web', output, providerExecuted: true });
      b.toolCall({ id: 'y', name: 'search', input: '{}' });
      b.finish('stop');
    });
    expect(parts[1]).toStrictEqual({ type: 'tool-result', toolCallId: 'new-1', toolName: 'web', output, providerExecuted: true });
    expect(findPendingToolCalls({ parts }).map(({ id }) => id)).toStrictEqual(['y']);
  });

  test('results under one id go to the calls in their order', () => {
    const { parts } = build((b) => {
      b.toolCall({ id: 'x', name: 'web', providerExecuted: true });
      b.toolCall({ id: 'x', name: 'web', providerExecuted: true });
      b.toolResult({ toolCallId: 'x', toolName: 'web', output: { type: 'text', value: '1' } });
      b.toolResult({ toolCallId: 'x', toolName: 'web', output: { type: 'text', value: '2' } });
      b.toolResult({ toolCallId: 'other', toolName: 'web', output: { type: 'text', value: '3' } });
      b.finish('stop');
    });
    expect(parts.flatMap((part) => (part.type === 'tool-result' ? [part.toolCallId] : []))).toStrictEqual(['x', 'new-1', 'other']);
  });
});

describe('thinking in the text', () => {
  test('is told apart, whole and in pieces', () => {
    const { parts, deltas } = build((b) => {
      for (const piece of ['<th', 'ink>Hm', '.</thi', 'nk>\n', '\nHel', 'lo']) b.text(piece, 'a');
      b.finish('stop');
    });
    expect(parts).toStrictEqual([{ type: 'reasoning', text: 'Hm.' }, textPart('Hello')]);
    expect(listDeltas(deltas, 'reasoning')).toStrictEqual(['Hm', '.']);
    expect(listDeltas(deltas, 'text')).toStrictEqual(['Hel', 'lo']);
  });

  test('stands before the text that it came with, and the metadata stays with the text', () => {
    const script = (b: ResponseBuilder): void => {
      b.text('', 'a', { p: { n: 1 } });
      b.text('<think>Hm.', 'a');
      b.text('</think>', 'a', { p: { n: 2 } });
      b.text('Hello', 'a');
      b.finish('stop');
    };
    expect(build(script).parts).toStrictEqual([
      { type: 'reasoning', text: 'Hm.' },
      { type: 'text', text: 'Hello', providerMetadata: { p: { n: 2 } } },
    ]);
  });

  test('metadata of a text that says nothing is kept, each with its own part', () => {
    const { parts } = build((b) => {
      b.text('', 'a', { p: { n: 1 } });
      b.text('', 'b', { p: { n: 2 } });
      b.text('Hello', 'c');
      b.finish('stop');
    });
    expect(parts).toStrictEqual([
      { type: 'text', text: '', providerMetadata: { p: { n: 1 } } },
      { type: 'text', text: '', providerMetadata: { p: { n: 2 } } },
      textPart('Hello'),
    ]);
  });

  test('is text where explicit reasoning came', () => {
    const { parts } = build((b) => {
      b.reasoning('Hm.');
      b.text('<think>x</think>y');
      b.finish('stop');
    });
    expect(parts).toStrictEqual([{ type: 'reasoning', text: 'Hm.' }, textPart('<think>x</think>y')]);
  });

  test('is text behind other text', () => {
    const { parts } = build((b) => {
      b.text('a', '1');
      b.textEnd('1');
      b.text('<think>x</think>y', '2');
      b.finish('stop');
    });
    expect(parts).toStrictEqual([textPart('a'), textPart('<think>x</think>y')]);
  });

  test('a tag that was only begun is text, in its place', () => {
    const { parts } = build((b) => {
      b.text(' <th', '1');
      b.toolCall({ id: 'a', name: 'search' });
      b.finish('stop');
    });
    expect(parts.map((part) => (part.type === 'text' ? part.text : part.type))).toStrictEqual([' <th', 'tool-call']);
  });

  test('thinking that never ends is no answer', () => {
    const built = build((b) => {
      b.text('<think>Hm, hm, hm');
      b.finish('length');
    });
    expect(built.parts).toStrictEqual([{ type: 'reasoning', text: 'Hm, hm, hm' }]);
    expect(findFailure(built)?.code).toBe('empty-response');
  });
});

describe('text beside a call that consists only of JSON (C45–C48)', () => {
  const leak = (b: ResponseBuilder): void => {
    b.text('{"q"');
    b.text(': 1}\n');
    b.toolCall({ id: 'a', name: 'search', input: '{"q":1}' });
    b.finish('tool-calls');
  };

  test('is dropped and never told', () => {
    const { parts, deltas } = build(leak, { tools });
    expect(parts.map(({ type }) => type)).toStrictEqual(['tool-call']);
    expect(deltas).toStrictEqual([]);
  });

  test('is kept where no tools were offered, or JSON is what was asked for', () => {
    expect(build(leak).parts[0]).toStrictEqual(textPart('{"q": 1}\n'));
    const { parts, deltas } = build(leak, { tools, output: { schema: {} } });
    expect(parts[0]).toStrictEqual(textPart('{"q": 1}\n'));
    expect(listDeltas(deltas, 'text')).toStrictEqual(['{"q"', ': 1}\n']);
  });

  const fence = '```';
  const [object, call] = ['{"q":2}', '{"name":"search","arguments":{"q":1}}'];

  test.each([
    ['other JSON', object],
    ['a list', `[${object},${object}]`],
    ['the call by name', call],
    ['several objects', `${object}\n${call}`],
    ['JSON in a fence', `${fence}json\n${object}\n${fence}\n`],
    ['JSON that is cut off', '{"q": "Par'],
    ['a fence that is cut off', `${fence}json\n{"q":`],
  ])('is dropped too if it is %s, in whatever pieces it comes', (_, text) => {
    for (let cut = 0; cut <= text.length; cut += 1) {
      const { parts, deltas } = build(
        (b) => {
          b.text(text.slice(0, cut), 'text-1');
          b.text(text.slice(cut), 'text-1');
          b.toolCall({ id: 'a', name: 'search', input: '{"q":1}' });
          b.finish('tool-calls');
        },
        { tools },
      );
      expect(parts.map(({ type }) => type)).toStrictEqual(['tool-call']);
      expect(deltas).toStrictEqual([]);
    }
  });

  test.each([
    ['a number', '5'],
    ['a string', '"five"'],
    ['prose with JSON in it', `I ask for ${object}.`],
    ['prose after JSON', `${object} is what I ask for.`],
    ['code in a fence', `${fence}ts\nconst q = 2;\n${fence}`],
  ])('is kept if it is %s, in whatever pieces it comes', (_, text) => {
    for (let cut = 0; cut <= text.length; cut += 1) {
      const { parts, deltas } = build(
        (b) => {
          b.text(text.slice(0, cut));
          b.text(text.slice(cut));
          b.toolCall({ id: 'a', name: 'search', input: '{"q":1}' });
          b.finish('tool-calls');
        },
        { tools },
      );
      expect(parts[0]).toStrictEqual(textPart(text));
      expect(listDeltas(deltas, 'text').join('')).toBe(text);
    }
  });

  test.each<[string, (b: ResponseBuilder) => void]>([
    ['no call', () => undefined],
    ["only the provider's own calls", (b) => b.toolCall({ id: 'a', name: 'search', input: '{"q":2}', providerExecuted: true })],
    [
      'only calls that have their results',
      (b) => {
        b.toolCall({ id: 'a', name: 'search', input: '{"q":2}' });
        b.toolResult({ toolCallId: 'a', toolName: 'search', output: { type: 'text', value: 'found' } });
      },
    ],
  ])('is the answer if beside it there are %s, and is told at the end', (_, add) => {
    const { parts, deltas } = build(
      (b) => {
        b.text('{"q":');
        b.text('2}');
        add(b);
        b.finish('stop');
      },
      { tools },
    );
    expect(parts[0]).toStrictEqual(textPart(object));
    expect(listDeltas(deltas, 'text')).toStrictEqual([object]);
  });

  test('prose around it is kept whole, and told as soon as it is prose', () => {
    const { parts, deltas } = build(
      (b) => {
        b.text('{"q":1}');
        b.text(' it is.');
        b.text(' Yes.');
        b.toolCall({ id: 'a', name: 'search', input: '{"q":1}' });
        b.finish('tool-calls');
      },
      { tools },
    );
    expect(parts[0]).toStrictEqual(textPart('{"q":1} it is. Yes.'));
    expect(listDeltas(deltas, 'text')).toStrictEqual(['{"q":1} it is.', ' Yes.']);
  });

  test('thinking before it does not hide it', () => {
    const { parts } = build(
      (b) => {
        b.text('<think>I search.</think>{"q":1}');
        b.toolCall({ id: 'a', name: 'search', input: { q: 1 } });
        b.finish('tool-calls');
      },
      { tools },
    );
    expect(parts.map(({ type }) => type)).toStrictEqual(['reasoning', 'tool-call']);
  });

  test('JSON without any call is an answer', () => {
    const { parts, outcome } = build(
      (b) => {
        b.text('{"q":1}');
        b.finish('stop');
      },
      { tools },
    );
    expect([outcome.ok, parts]).toStrictEqual([true, [textPart('{"q":1}')]]);
  });
});

describe('what became of the answer', () => {
  const hello = (b: ResponseBuilder): void => {
    b.text('Hello');
  };
  const call = (b: ResponseBuilder): void => {
    b.toolCall({ id: 'a', name: 'search' });
  };

  test.each<readonly [string, (b: ResponseBuilder) => void, string | undefined]>([
    [
      'a finish',
      (b) => {
        hello(b);
        b.finish('stop');
      },
      undefined,
    ],
    [
      'a finish without a word',
      (b) => {
        hello(b);
        b.finish();
      },
      undefined,
    ],
    ['no finish (M3)', hello, 'stream-interrupted'],
    [
      'the word interrupted (M3)',
      (b) => {
        hello(b);
        b.finish('interrupted');
      },
      'stream-interrupted',
    ],
    [
      'an error and a finish (M2)',
      (b) => {
        call(b);
        b.error(failure);
        b.finish('tool-calls');
      },
      'rate-limited',
    ],
    [
      'two errors: the first',
      (b) => {
        b.error(failure);
        b.error({ ...failure, code: 'second' });
      },
      'rate-limited',
    ],
    [
      'the finish reason error',
      (b) => {
        hello(b);
        b.finish('error', 'MALFORMED_FUNCTION_CALL');
      },
      'model-failed',
    ],
    [
      'nothing (M6)',
      (b) => {
        b.finish('stop');
      },
      'empty-response',
    ],
    [
      'nothing, for an unknown reason (M6)',
      (b) => {
        b.finish('strange');
      },
      'empty-response',
    ],
    [
      'nothing but space (M6)',
      (b) => {
        b.text(' \n');
        b.finish('stop');
      },
      'empty-response',
    ],
    [
      'nothing but thoughts (M6)',
      (b) => {
        b.reasoning('Hm.');
        b.finish('length');
      },
      'empty-response',
    ],
    [
      'nothing but sources (M6)',
      (b) => {
        b.part({ type: 'source', sourceType: 'url', id: '1' });
        b.finish('stop');
      },
      'empty-response',
    ],
    [
      'nothing, cut short (M6)',
      (b) => {
        b.finish('length');
      },
      'empty-response',
    ],
    [
      'a refusal without words',
      (b) => {
        b.finish('refusal');
      },
      undefined,
    ],
    [
      'calls alone',
      (b) => {
        call(b);
        b.finish('stop');
      },
      undefined,
    ],
    [
      'a picture alone',
      (b) => {
        b.part({ type: 'image', data: 'AA' });
        b.finish('stop');
      },
      undefined,
    ],
    [
      'a result alone',
      (b) => {
        b.toolResult({ toolCallId: 'a', toolName: 'web', output: { type: 'text', value: '' } });
        b.finish('stop');
      },
      undefined,
    ],
  ])('%s', (_name, script, code) => {
    const built = build(script);
    expect(findFailure(built)?.code).toBe(code);
    // An abort wins over everything (M1).
    expect(findFailure(build(script, {}, true))).toStrictEqual({
      type: 'unknown',
      code: 'aborted',
      message: 'The call was aborted.',
      retryable: false,
    });
  });

  test('failures of ours can be retried and name what the provider said', () => {
    expect(
      findFailure(
        build((b) => {
          b.finish('stop', 'end_turn');
        }),
      ),
    ).toStrictEqual({
      type: 'model',
      code: 'empty-response',
      message: 'The model returned an empty answer (finish reason: end_turn).',
      retryable: true,
    });
    expect(findFailure(build(hello))).toMatchObject({ type: 'model', retryable: true });
    expect(
      findFailure(
        build((b) => {
          b.finish('error', 'BAD');
        }),
      )?.message,
    ).toContain('"BAD"');
  });

  test('an empty answer that used up its budget is not asked for again, and says why', () => {
    const built = build((b) => {
      b.reasoning('Hm.');
      b.finish('length', 'max_tokens');
    });
    expect(findFailure(built)).toMatchObject({ type: 'model', code: 'empty-response', retryable: false });
    expect(findFailure(built)?.message).toContain('(finish reason: max_tokens). The whole output budget was used up');
  });

  test('the partial answer keeps what had come, held text included', () => {
    const { outcome, deltas } = build(
      (b) => {
        b.text('{"q":');
      },
      { tools },
    );
    expect(outcome).toMatchObject({ ok: false, partial: { parts: [textPart('{"q":')] } });
    expect(listDeltas(deltas, 'text')).toStrictEqual(['{"q":']);
  });

  test('facts, finish reason and usage stand on the response; later words win', () => {
    const { response } = build((b) => {
      b.facts({ id: 'r1', providerMetadata: { a: 1 } });
      b.facts({ modelId: 'm-2026' });
      b.usage({ input: 10, output: 1 });
      b.usage({ output: 5, cacheRead: 4, reasoning: undefined, cacheWrite: null });
      b.text('Hi');
      b.finish('tool-calls', 'tool_use');
    });
    expect(response).toStrictEqual({
      parts: [textPart('Hi')],
      usage: { input: 10, output: 5, total: 15, cacheRead: 4 },
      id: 'r1',
      modelId: 'm-2026',
      providerMetadata: { a: 1 },
      finishReason: 'tool_calls',
      rawFinishReason: 'tool_use',
    });
  });

  test('an answer broken off has no finish reason, whatever word it came with', () => {
    const { response } = build((b) => {
      b.finish('interrupted');
    });
    expect(response).toStrictEqual({
      parts: [],
      usage: { input: 0, output: 0, total: 0, unknownCalls: 1 },
      rawFinishReason: 'interrupted',
    });
  });

  test('asked twice, it says the same', () => {
    const builder = createResponseBuilder();
    builder.text('Hi');
    builder.finish('stop');
    expect(builder.outcome()).toBe(builder.outcome({ aborted: true }));
  });
});

test('everything that comes is a sign of life', () => {
  let heard = 0;
  build(
    (b) => {
      b.text('{', 'a');
      b.textEnd('a');
      b.reasoning('x', 'r');
      b.reasoningEnd('r');
      b.toolInputStart('c', 'search');
      b.toolInputDelta('c', '{}');
      b.toolInputEnd('c');
      b.toolCall({ id: 'c', name: 'search' });
      b.toolResult({ toolCallId: 'c', toolName: 'search', output: { type: 'text', value: '' } });
      b.part({ type: 'source', sourceType: 'url', id: 's' });
      b.facts({});
      b.alive();
      b.finish('stop');
    },
    { tools, onActivity: () => (heard += 1) },
  );
  expect(heard).toBe(13);
});

test('a listener that throws at a warning is reported, and changes nothing', () => {
  const complaints = vi.spyOn(console, 'error').mockReturnValue();
  const onNotice = (): never => {
    throw new Error('listener');
  };
  const builder = createResponseBuilder({ request: { onNotice } });
  builder.toolCall({ id: '', name: 'search' });
  builder.finish('stop');
  expect(builder.outcome().ok).toBe(true);
  expect(complaints).toHaveBeenCalledOnce();
  complaints.mockRestore();
});

test('listeners that throw at pieces and signs of life are reported, and change nothing', () => {
  const complaints = vi.spyOn(console, 'error').mockReturnValue();
  const listener = (): never => {
    throw new Error('listener');
  };
  const builder = createResponseBuilder({ request: { onActivity: listener }, onDelta: listener });
  builder.reasoning('Hm.');
  builder.text('Hello');
  builder.toolInputStart('a', 'search');
  builder.finish('stop');
  expect(builder.outcome()).toMatchObject({ ok: true, response: { parts: [{ text: 'Hm.' }, { text: 'Hello' }, { toolCallId: 'a' }] } });
  expect(complaints).toHaveBeenCalledTimes(7);
  complaints.mockRestore();
});
