// The requests that the desk answers: those of this machine, and of its own page.
// Everybody who reaches it is let in, so that nothing else may stand between a foreign page and the sessions:
// R1. A foreign name that was pointed at this machine (DNS rebinding) is refused.
// R2. A page of another origin may change nothing.

const ownNames = ['localhost', '127.0.0.1', '[::1]'];

function readAddress(address: string): URL | undefined {
  return URL.canParse(address) ? new URL(address) : undefined;
}

const isOwn = (url: URL | undefined): boolean => url !== undefined && ownNames.includes(url.hostname);

function isForeignHost(request: Request): boolean {
  const host = request.headers.get('host');
  return !isOwn(readAddress(request.url)) || (host !== null && !isOwn(readAddress(`http://${host}`)));
}

function isForeignPage({ headers, url }: Request): boolean {
  const origin = headers.get('origin');
  if (origin !== null) return readAddress(origin)?.host !== new URL(url).host;
  return headers.get('sec-fetch-site') === 'cross-site';
}

const refuse = (status: number, message: string): Response =>
  new Response(`${message}\n`, { status, headers: { 'content-type': 'text/plain; charset=utf-8' } });

/** Returns the refusal of a request that comes from somewhere else; undefined if it may pass. */
export function refuseForeign(request: Request): Response | undefined {
  if (isForeignHost(request)) return refuse(421, 'The partner desk answers to localhost only.');
  const isReading = request.method === 'GET' || request.method === 'HEAD';
  return !isReading && isForeignPage(request) ? refuse(403, 'Pages of other origins may not use the partner desk.') : undefined;
}
