import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { fromChannelName, isUsableName, toChannelName } from './channel-name.ts';

describe('the channel of a session', () => {
  it('is private, and shows a plain id as it is', () => {
    expect(toChannelName('order_7-a')).toBe('private-agent.order_7-a');
  });

  it('escapes everything that a server or a rule of Laravel would stumble over (N2)', () => {
    expect(toChannelName('north/7.1 ä')).toBe('private-agent.north=2F7=2E1=20=C3=A4');
  });

  it('can be read back, whatever the id (N1)', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'grapheme', minLength: 1, maxLength: 20 }), (id) => {
        const name = toChannelName(id);
        expect(name).toMatch(/^private-agent\.[\w=-]+$/);
        if (isUsableName(name)) expect(fromChannelName(name)).toBe(id);
      }),
    );
  });

  it.each([
    'private-agent.',
    'agent.one',
    'presence-agent.one',
    'private-agent.a.b',
    'private-agent.=61',
    'private-agent.=2f',
    'private-agent.=FF',
    'private-agent.=2',
    `private-agent.${'x'.repeat(200)}`,
  ])('is not %s', (name) => {
    expect(fromChannelName(name)).toBeUndefined();
  });
});
