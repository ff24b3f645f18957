import { createHmac } from 'node:crypto';
import { describe, expect, test } from 'vitest';
import { verifyWebhook } from './webhook-signature.ts';

const secret = 'a secret that only the two sides know';
const other = 'another secret, of another receiver, as long';
const at = 1_767_225_600_000;
const body = '{"text":"ä"}';
const sign = (key: string, seconds: number, text = body): string =>
  `t=${seconds},v1=${createHmac('sha256', key).update(`${seconds}.${text}`).digest('hex')}`;
const seconds = at / 1000;
const good = sign(secret, seconds);

describe('verifyWebhook()', () => {
  const cases: Readonly<Record<string, readonly [boolean, Partial<Parameters<typeof verifyWebhook>[0]>]>> = {
    'accepts what was signed with the secret': [true, {}],
    'accepts the bytes of a body': [true, { body: new TextEncoder().encode(body) }],
    'accepts a second signature, while secrets are replaced': [
      true,
      { signature: `${sign(other, seconds)},v1=${good.split('v1=')[1] ?? ''}` },
    ],
    'accepts either of two secrets': [true, { secret: [other, secret] }],
    'accepts what was signed four minutes ago': [true, { signature: sign(secret, seconds - 240) }],
    'refuses another body': [false, { body: '{"text":"a"}' }],
    'refuses another secret': [false, { secret: other }],
    'refuses another time than the one that was signed': [false, { signature: good.replace(`t=${seconds}`, `t=${seconds + 1}`) }],
    'refuses what was signed six minutes ago': [false, { signature: sign(secret, seconds - 360) }],
    'refuses what was signed in the future': [false, { signature: sign(secret, seconds + 360) }],
    'refuses what is older than asked for': [false, { signature: sign(secret, seconds - 10), toleranceMs: 5000 }],
    'refuses an old signature if the tolerance is not a number': [
      false,
      { signature: sign(secret, seconds - 360), toleranceMs: Number.NaN },
    ],
    'refuses an old signature if the time is not a number': [false, { signature: sign(secret, seconds - 360), now: Number.NaN }],
    'refuses a missing signature': [false, { signature: undefined }],
    'refuses a header that is not one': [false, { signature: 'v1=abc' }],
    'refuses a signature that is cut': [false, { signature: good.slice(0, -2) }],
    'refuses a signature without a time': [false, { signature: good.split(',')[1] }],
    'refuses a header that is too long': [false, { signature: `${good},${'x'.repeat(2000)}` }],
  };
  test.each(Object.entries(cases))('%s', async (_, [expected, change]) => {
    expect(await verifyWebhook({ body, signature: good, secret, now: at, ...change })).toBe(expected);
  });

  test('refuses a thousand forged signatures', async () => {
    for (let index = 0; index < 1000; index += 1) {
      const hex = createHmac('sha256', `guess ${index}`).update(`${seconds}.${body}`).digest('hex');
      expect(await verifyWebhook({ body, signature: `t=${seconds},v1=${hex}`, secret, now: at })).toBe(false);
    }
  });

  test('says that a secret is too short, without showing it', async () => {
    await expect(verifyWebhook({ body, signature: good, secret: 'short one' })).rejects.toThrow(
      'verifyWebhook() needs a secret of at least 32 bytes, not a shorter one.',
    );
  });
});
