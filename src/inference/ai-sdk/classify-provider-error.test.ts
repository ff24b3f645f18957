import {
  APICallError,
  InvalidPromptError,
  JSONParseError,
  LoadAPIKeyError,
  TypeValidationError,
  UnsupportedFunctionalityError,
} from '@ai-sdk/provider';
import { describe, expect, it } from 'vitest';
import { RateLimitedError } from '../../errors/index.ts';
import { classifyProviderError } from './classify-provider-error.ts';

const now = Date.parse('2026-01-01T00:00:00Z');
const classify = (error: unknown, isAnswering = false): ReturnType<typeof classifyProviderError> =>
  classifyProviderError(error, { now, isAnswering });
const withCode = (code: string, message = code): Error => Object.assign(new Error(message), { code });

function apiError(
  statusCode: number | undefined,
  rest: { readonly body?: unknown; readonly headers?: Record<string, string>; readonly cause?: unknown; readonly message?: string } = {},
): APICallError {
  return new APICallError({
    message: rest.message ?? 'something went wrong',
    url: 'https://api.example.com',
    requestBodyValues: { secret: 'the whole conversation' },
    ...(statusCode !== undefined && { statusCode }),
    ...(rest.headers !== undefined && { responseHeaders: rest.headers }),
    ...(rest.body !== undefined && { responseBody: typeof rest.body === 'string' ? rest.body : JSON.stringify(rest.body) }),
    ...(rest.cause !== undefined && { cause: rest.cause }),
  });
}

const statuses: readonly (readonly [number, string, boolean])[] = [
  [400, 'model', false],
  [401, 'model', false],
  [402, 'rate_limit', false],
  [403, 'model', false],
  [404, 'model', false],
  [408, 'timeout', true],
  [409, 'model', false],
  [413, 'model', false],
  [422, 'model', false],
  [425, 'model', true],
  [429, 'rate_limit', true],
  [500, 'model', true],
  [502, 'model', true],
  [503, 'model', true],
  [504, 'timeout', true],
  [529, 'rate_limit', true],
];

describe('classifyProviderError', () => {
  it.each(statuses)('status %i is %s, retryable %s', (status, type, retryable) => {
    expect(classify(apiError(status))).toMatchObject({ type, retryable });
    // The same by structure alone, as another copy of the package or another package would throw it.
    expect(classify({ name: 'AI_APICallError', message: 'x', statusCode: status })).toMatchObject({ type, retryable });
    expect(classify(new Error('wrapped', { cause: apiError(status) }))).toMatchObject({ type, retryable });
  });

  it.each([
    ['connect time-out', apiError(undefined, { cause: withCode('UND_ERR_CONNECT_TIMEOUT') }), 'timeout', true],
    ['time-out of the first byte', apiError(undefined, { cause: withCode('UND_ERR_HEADERS_TIMEOUT') }), 'timeout', true],
    ['ETIMEDOUT', apiError(undefined, { cause: withCode('ETIMEDOUT') }), 'timeout', true],
    ['AbortSignal.timeout', new DOMException('timed out', 'TimeoutError'), 'timeout', true],
    ['reset', apiError(undefined, { cause: withCode('ECONNRESET') }), 'model', true],
    ['refused connection', apiError(undefined, { cause: withCode('ECONNREFUSED') }), 'model', true],
    ['broken while answering', apiError(200, { cause: new TypeError('terminated') }), 'model', true],
    [
      '200 with a body that is no answer',
      apiError(200, { body: { unexpected: true }, cause: new TypeValidationError({ value: {}, cause: 'x' }) }),
      'model',
      true,
    ],
    ['unsupported functionality', new UnsupportedFunctionalityError({ functionality: 'x' }), 'model', false],
    ['invalid prompt', new InvalidPromptError({ prompt: [], message: 'x' }), 'model', false],
    ['missing key', new LoadAPIKeyError({ message: 'x' }), 'model', false],
    ['options that the package refuses', new TypeValidationError({ value: {}, cause: 'x' }), 'model', false],
    ['bad address', withCode('ERR_INVALID_URL'), 'model', false],
    ['anything else', new Error('who knows'), 'model', true],
    ['nothing at all', undefined, 'model', true],
    ['our own', new RateLimitedError('slow down', { retryAfterMs: 5 }), 'rate_limit', true],
  ])('%s', (_, error, type, retryable) => {
    expect(classify(error)).toMatchObject({ type, retryable });
  });

  it.each([
    ['corrupt chunk', new JSONParseError({ text: '{', cause: 'x' }), 'model', true],
    ['unexpected chunk', new TypeValidationError({ value: {}, cause: 'x' }), 'model', true],
    ['overload event', { type: 'error', error: { type: 'overloaded_error', message: 'Overloaded' } }, 'rate_limit', true],
    [
      'overload under a status of its own',
      { message: 'Overloaded', type: 'overloaded_error', statusCode: 503, data: {} },
      'rate_limit',
      true,
    ],
    ['rate limit event', { code: 'rate_limit_exceeded', message: 'slow down' }, 'rate_limit', true],
    ['quota event', { type: 'response.failed', response: { error: { code: 'insufficient_quota', message: 'pay' } } }, 'rate_limit', false],
    ['server error event', { type: 'server_error', message: 'oops' }, 'model', true],
    ['invalid request event', { type: 'invalid_request_error', message: 'no' }, 'model', false],
    ['words alone', 'something broke', 'model', true],
    ['JSON in words', '{"error":{"code":429,"status":"RESOURCE_EXHAUSTED","message":"wait"}}', 'rate_limit', true],
  ])('in a stream: %s', (_, error, type, retryable) => {
    expect(classify(error, true)).toMatchObject({ type, retryable });
  });

  it.each([
    [{ 'retry-after-ms': '1500' }, undefined, 1500],
    [{ 'retry-after-ms': '1500', 'retry-after': '9' }, undefined, 1500],
    [{ 'retry-after': '9' }, undefined, 9000],
    [{ 'Retry-After': '0.5' }, undefined, 500],
    [{ 'retry-after': 'Thu, 01 Jan 2026 00:00:20 GMT' }, undefined, 20_000],
    [{ 'retry-after': 'Wed, 31 Dec 2025 23:00:00 GMT' }, undefined, 0],
    [{ 'retry-after': 'soon' }, undefined, undefined],
    [{ 'retry-after': '-5' }, undefined, undefined],
    [{ 'retry-after': '-1e3' }, undefined, undefined],
    [{ 'retry-after': 'Infinity' }, undefined, undefined],
    [{ 'retry-after': 'NaN' }, undefined, undefined],
    [{ 'retry-after': '9'.repeat(400) }, undefined, undefined],
    [{ 'retry-after-ms': '-1', 'retry-after': '9' }, undefined, 9000],
    [{ 'retry-after-ms': '9'.repeat(400), 'retry-after': '9' }, undefined, 9000],
    [{}, { error: { details: [{ retryDelay: `${'9'.repeat(400)}s` }] } }, undefined],
    [{}, { error: { details: [{ retryDelay: '-2s' }] } }, undefined],
    [{}, { error: { details: [{ '@type': 'type.googleapis.com/google.rpc.RetryInfo', retryDelay: '34.4s' }] } }, 34_400],
    [{}, [{ error: { details: [{ retryDelay: '2s' }] } }], 2000],
    [{}, undefined, undefined],
  ])('reads the delay from %j and %j', (headers, body, expected) => {
    expect(classify(apiError(429, { headers, body })).retryAfterMs).toBe(expected);
  });

  it.each(['headers', 'responseHeaders'])('reads the delay from the Headers of fetch under %s', (key) => {
    const headers = new Headers({ 'Retry-After': '9' });
    expect(classify({ statusCode: 429, message: 'x', [key]: headers }).retryAfterMs).toBe(9000);
    expect(classify({ message: 'x', response: { status: 429, [key]: headers } }).retryAfterMs).toBe(9000);
  });

  it('takes no delay from an answer that was no error, nor where trying again cannot help', () => {
    expect(classify(apiError(200, { headers: { 'retry-after': '39' } }))).not.toHaveProperty('retryAfterMs');
    expect(classify(apiError(400, { headers: { 'retry-after': '39' } }))).not.toHaveProperty('retryAfterMs');
  });

  it.each([
    "This model's maximum context length is 8192 tokens. However, your messages resulted in 9000 tokens.",
    'prompt is too long: 205000 tokens > 200000 maximum',
    'input length and `max_tokens` exceed context limit: 190000 + 20000 > 200000',
    'The input token count (1200000) exceeds the maximum number of tokens allowed (1048576).',
    'Your input exceeds the context window of this model.',
    "This model's maximum prompt length is 131072 but the request contains 537812 tokens.",
    'Please reduce the length of the messages or completion.',
    'Prompt contains 40000 tokens and 0 draft tokens, too large for model with 32768 maximum context length',
    'Input is too long for requested model.',
  ])('knows a conversation that is too long: %s', (message) => {
    expect(classify(apiError(400, { message }))).toMatchObject({ type: 'model', retryable: false, code: 'context-overflow' });
    expect(classify({ error: { code: 400, message } }, true)).toMatchObject({ code: 'context-overflow' });
  });

  it.each([
    ['a limit of tokens per minute', 429, 'Rate limit reached: too many tokens per minute. Limit 30000, requested 40000.'],
    ['a number that is too large', 400, 'max_tokens: 100000 > 64000, which is the maximum allowed number of output tokens'],
    ['a picture that is too large', 413, 'image exceeds 5 MB maximum'],
  ])('does not take %s for it', (_, status, message) => {
    expect(classify(apiError(status, { message })).code).not.toBe('context-overflow');
  });

  it.each([
    ['a type', { type: 'rate_limit_error', message: 'too many input tokens: reduce the length of the messages' }],
    ['a code', { code: 'rate_limit_exceeded', message: 'Request too large: too many tokens.' }],
    ['a status word', { status: 'RESOURCE_EXHAUSTED', message: 'The input token count exceeds the limit.' }],
    ['its words', { type: 'error', message: 'Rate limit reached: too many tokens per minute. Limit 30000, requested 40000.' }],
  ])('takes a rate limit for one, by %s, where it speaks of too many tokens', (_, error) => {
    expect(classify({ error }, true)).toMatchObject({ type: 'rate_limit', retryable: true });
    expect(classify(apiError(400, { message: error.message, body: { error } }))).toMatchObject({ type: 'rate_limit', retryable: true });
    expect(classify(apiError(413, { message: error.message, body: { error } }))).toMatchObject({ type: 'rate_limit', retryable: true });
  });

  it('keeps the message short, free of secrets and of live objects', () => {
    const key = `sk-proj-${'a1B2'.repeat(12)}`;
    const failure = classify(apiError(401, { message: `Incorrect API key provided: ${key}. ${'very '.repeat(200)}long` }));
    expect(failure.message.length).toBeLessThan(320);
    expect(failure.message).not.toContain(key);
    expect(JSON.stringify(failure)).not.toContain('conversation');
    expect(Object.values(failure).every((value) => typeof value !== 'object')).toBe(true);
  });

  it('survives errors that refer to themselves or cannot be read', () => {
    const loop: Error = new Error('loop');
    loop.cause = loop;
    const hostile = new Proxy(
      {},
      {
        get: () => {
          throw new Error('do not touch');
        },
      },
    );
    expect(classify(loop)).toMatchObject({ type: 'model', message: 'loop' });
    expect(classify(hostile)).toMatchObject({ type: 'model', message: 'The provider gave no reason.' });
  });
});
