import type { PageConfig } from './page-options.ts';

const getOrigin = (address: string | undefined): readonly string[] =>
  address?.startsWith('http') === true ? [new URL(address).origin] : [];

/** Returns the policy of the page: its own script and style, its own servers, no frames, and no HTML made of strings. */
function toPolicy({ api, tokenUrl, tour }: PageConfig): string {
  const origins = new Set([api, tokenUrl, tour].flatMap(getOrigin));
  return [
    "default-src 'none'",
    "script-src 'self'",
    "style-src 'self'",
    "img-src 'self'",
    ['connect-src', "'self'", ...origins].join(' '),
    "base-uri 'none'",
    "form-action 'none'",
    "frame-ancestors 'none'",
    "require-trusted-types-for 'script'",
    "trusted-types 'none'",
  ].join('; ');
}

/** Returns the headers of every response. */
export const toPageHeaders = (config: PageConfig): Readonly<Record<string, string>> => ({
  'content-security-policy': toPolicy(config),
  'x-content-type-options': 'nosniff',
  'x-frame-options': 'DENY',
  'referrer-policy': 'no-referrer',
  'cross-origin-opener-policy': 'same-origin',
});
