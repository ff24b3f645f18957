// The tour over HTTP: GET lists the acts, POST <path>/<act> starts one.
import type { ActId } from './acts.ts';
import { acts } from './acts.ts';
import type { Conductor } from './conductor.ts';

function refuse(status: number, code: string, message: string): Response {
  return Response.json({ error: { code, message } }, { status });
}

async function startAct(conductor: Conductor, id: ActId, onProblem: (error: unknown) => void): Promise<Response> {
  try {
    return Response.json({ session_id: await conductor.start(id) });
  } catch (error) {
    onProblem(error);
    return refuse(503, 'tour-failed', 'This part of the tour could not be started. Try again.');
  }
}

/** Serves the tour under a path. */
export function createTourHandler(
  conductor: Conductor,
  { path, onProblem }: { readonly path: string; readonly onProblem: (error: unknown) => void },
): (request: Request) => Promise<Response> {
  return async ({ url, method, headers }) => {
    const id = new URL(url).pathname.slice(path.length).replace(/^\//, '');
    if (id === '') return method === 'GET' ? Response.json({ acts }) : refuse(405, 'method-not-allowed', 'Use GET.');
    const act = acts.find((each) => each.id === id);
    if (act === undefined)
      return refuse(404, 'not-found', `The tour has no such act. There are ${acts.map((each) => each.id).join(', ')}.`);
    if (method !== 'POST') return refuse(405, 'method-not-allowed', 'Use POST.');
    // A page of another origin cannot send JSON without asking first.
    const isJson = headers.get('content-type')?.startsWith('application/json') === true;
    return isJson ? startAct(conductor, act.id, onProblem) : refuse(415, 'wrong-content-type', 'Send JSON.');
  };
}
