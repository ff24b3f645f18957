import { describe, expect, it } from 'vitest';
import type { Route } from './route.ts';
import { parseRoute, toPath } from './route.ts';

describe('addresses', () => {
  it.each<[string, Route]>([
    ['/', { type: 'home' }],
    ['/inbox', { type: 'inbox' }],
    ['/s/session-1', { type: 'session', sessionId: 'session-1' }],
    ['/s/a%2Fb%20c', { type: 'session', sessionId: 'a/b c' }],
  ])('%s leads there and back, with and without a base path', (path, route) => {
    for (const basePath of ['', '/desk']) {
      expect(parseRoute(`${basePath}${path}`, basePath)).toEqual(route);
      expect(toPath(route, basePath)).toBe(`${basePath}${path}`);
    }
  });

  it.each(['/s', '/s/', '/unknown', ''])('that are not known lead home: %j', (path) => {
    expect(parseRoute(path, '')).toEqual({ type: 'home' });
  });

  it('with a broken escape are taken as they are', () => {
    expect(parseRoute('/s/%E0%A4%A', '')).toEqual({ type: 'session', sessionId: '%E0%A4%A' });
  });
});
