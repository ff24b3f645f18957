// The page.

/** Options of the page. */
interface PageOptions {
  readonly api: string;
  readonly title: string;
  readonly tour: string;
}

export function createPageHandler({ title }: PageOptions): (request: Request) => Promise<Response> {
  return async () =>
    new Response(`<!doctype html><html lang="en"><title>${title}</title><h1>${title}</h1></html>`, {
      headers: { 'content-type': 'text/html; charset=utf-8' },
    });
}
