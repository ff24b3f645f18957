import fc from 'fast-check';
import { expect, test } from 'vitest';
import type { Json } from './json.ts';
import { createRedactor, defaultRedactor } from './redactor.ts';

// Written in pieces so that secret scanners leave this file alone.
const jwt = ['eyJhbGciOiJIUzI1NiJ9', 'eyJzdWIiOiIxMjM0In0', 'c2lnbmF0dXJl'].join('.');
const pem = ['-----BEGIN RSA', 'PRIVATE KEY-----\nMIIEpAIBAAKCAQEA\n-----END RSA', 'PRIVATE KEY-----'].join(' ');
const github = ['ghp', 'abcdefghijklmnopqrstuvwxyz0123456789'].join('_');

test.each([
  'password',
  'passwd',
  'dbPassword',
  'secret',
  'token',
  'api_key',
  'apiKey',
  'APIKey',
  'X-Api-Key',
  'OPENAI_API_KEY',
  'Authorization',
  'cookie',
  'Set-Cookie',
  'private_key',
  'client_secret',
  'clientSecret',
  'access_token',
  'refreshToken',
  'github_token',
  'aws_secret_access_key',
])('the field %s is taken out', (key) => {
  expect(defaultRedactor.value({ [key]: 'hunter2', other: 1 })).toEqual({ [key]: '[redacted]', other: 1 });
});

test.each([
  'maxTokens',
  'inputTokens',
  'token_count',
  'tokens',
  'tokenizer',
  'next_page_token',
  'time_to_first_token',
  'eos_token',
  'secretary',
  'keyboard',
  'author',
  'passenger',
  'primary_key',
  'cookies_enabled',
])('the field %s is kept', (key) => {
  const value = { [key]: 'plain' };
  expect(defaultRedactor.value(value)).toBe(value);
});

test('a whole value below a secret name goes, bare facts stay', () => {
  expect(defaultRedactor.value({ secret: { a: 1 }, password: 1234, cookie: ['a=b'] })).toEqual({
    secret: '[redacted]',
    password: '[redacted]',
    cookie: '[redacted]',
  });
  const facts = { password: true, secret: null, api_key: '', token: 12 };
  expect(defaultRedactor.value(facts)).toBe(facts);
});

test.each([
  ['Authorization: Bearer abc.def', 'Authorization: [redacted]'],
  ['sent Bearer xxx, refused', 'sent Bearer [redacted], refused'],
  ['used bearer 12345678abc here', 'used bearer [redacted] here'],
  ['authorization: Basic dXNlcjpwYXNz\nHost: a', 'authorization: [redacted]\nHost: a'],
  ['Cookie: session=abc; other=def\nHost: a', 'Cookie: [redacted]\nHost: a'],
  ['key sk-proj-abcdefghijklmnop1234.', 'key [redacted].'],
  ['AKIAIOSFODNN7EXAMPLE is it', '[redacted] is it'],
  [`git clone with ${github}`, 'git clone with [redacted]'],
  [['xoxb', '123456789012-abcdef'].join('-'), '[redacted]'],
  [['AIza', 'Sy1234567890abcdefghijklmnopqrstuvw!'].join(''), '[redacted]!'],
  [`jwt=<${jwt}>`, 'jwt=<[redacted]>'],
  [`before ${pem} after`, 'before [redacted] after'],
  [`cut ${pem.slice(0, 50)}`, 'cut [redacted]'],
  ['postgres://user:pa55word@host/db', 'postgres://user:[redacted]@host/db'],
  ['redis://:pa55word@host', 'redis://:[redacted]@host'],
  ['GET /a?api_key=abc&page=2', 'GET /a?api_key=[redacted]&page=2'],
  ['DB_PASSWORD=hunter2 npm start', 'DB_PASSWORD=[redacted] npm start'],
  ['PASSWORD="two words" x', 'PASSWORD=[redacted] x'],
  ['{"password": "hun\\"ter2", "n": "1"}', '{"password": "[redacted]", "n": "1"}'],
])('the text %j loses its secret', (text, expected) => {
  expect(defaultRedactor.text(text)).toBe(expected);
  expect(defaultRedactor.text(expected)).toBe(expected);
});

test.each([
  'the bearer of bad news',
  'a task-oriented-and-long-hyphenated-word',
  'Cookie: flour, sugar and butter',
  'maxTokens=500 PWD=/work',
  'see https://example.com:8080/a@b',
  '{"tokens": "12", "maxTokens": "5"}',
  'time 12:30, mail me@example.com',
])('the text %j is kept', (text) => {
  expect(defaultRedactor.text(text)).toBe(text);
});

test('secrets are found at any depth, in copies that leave the rest shared', () => {
  const kept = { n: 1 };
  const input: Json = { kept, list: [{ token: 'abc' }, `ask ${github}`] };
  const output = defaultRedactor.value(input) as { kept: unknown };
  expect(output).toEqual({ kept, list: [{ token: '[redacted]' }, 'ask [redacted]'] });
  expect(output.kept).toBe(kept);
  expect(input).toEqual({ kept, list: [{ token: 'abc' }, `ask ${github}`] });
});

test('further keys, patterns and another replacement can be given', () => {
  const redactor = createRedactor({ keys: ['patientId'], patterns: [/\d{3}-\d{2}/, /x+/y], replacement: '***' });
  expect(redactor.value({ patient_id: 'p', note: '123-45 and 678-90', token: 'a', x: 'axxa' })).toEqual({
    patient_id: '***',
    note: '*** and ***',
    token: '***',
    x: 'a***a',
  });
});

test('__proto__ stays an own key in the copy', () => {
  const copy = defaultRedactor.value(JSON.parse('{"__proto__":{"password":"a"}}') as Json);
  expect(JSON.stringify(copy)).toBe('{"__proto__":{"password":"[redacted]"}}');
});

test('a secret goes whatever stands around it', () => {
  const around = fc
    .array(fc.constantFrom('token=', '"password":"', 'Bearer ', '://a:', '@', '"', ' ', 'sk-', '\n', '=', 'cookie: a', '{', '['))
    .map((pieces) => pieces.join(''));
  const secret = fc.constantFrom(jwt, pem, github, 'AKIAIOSFODNN7EXAMPLE');
  fc.assert(
    fc.property(around, secret, around, (before, planted, after) => {
      expect(defaultRedactor.text(`${before} ${planted} ${after}`)).not.toContain(planted);
    }),
  );
});

test('texts made to be slow are read in about linear time', () => {
  const pieces = [
    'eyJ-', '-----BEGIN PRIVATE KEY-----', '"a":"', '"a":"\\', 'a="', "a='", 'a=', '://', '://a:', 'Bearer ', 'bearer a', 'cookie: a',
    'authorization:', 'sk-', 'xoxb-', 'AIza', 'ghp_', 'password', '\\"', '-', 'a', ' ', '=', '"', 'eyJaaaaaaaa.',
  ]; // prettier-ignore
  const startedAt = performance.now();
  for (const piece of pieces) defaultRedactor.text(piece.repeat(200_000 / piece.length));
  // Quadratic reading of one of them would take minutes.
  expect(performance.now() - startedAt).toBeLessThan(10_000);
});

test('a long text of one field does not overflow', () => {
  expect(defaultRedactor.text(`{"password":"${'a\\"'.repeat(1_000_000)}"}`)).toBe('{"password":"[redacted]"}');
});
