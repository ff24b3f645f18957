// A provider that fails, in each of the ways in which real ones were seen to fail.
import type { ServerResponse } from 'node:http';
import type { LoopbackServer, WireApi } from '../../../src/testing/node/index.ts';
import { startLoopbackServer } from '../../../src/testing/node/index.ts';
import { errorBody, sampleAnswer } from './sample-answer.ts';

/** Fault of a provider. */
export type Fault =
  /** Answers with an error. */
  | {
      readonly type: 'status';
      readonly status: number;
      readonly headers?: Readonly<Record<string, string>>;
      readonly body?: string | object;
    }
  /** Closes the connection before it says anything. */
  | { readonly type: 'reset' }
  /** Ends the stream after its first words, cleanly. */
  | { readonly type: 'ends-early' }
  /** Breaks the connection after the first words. */
  | { readonly type: 'destroyed' }
  /** Says nothing more after the first words, and stays. */
  | { readonly type: 'stalls' }
  /** Says nothing at all, and stays. */
  | { readonly type: 'silent' }
  /** Sends a stream without events. */
  | { readonly type: 'empty-stream' }
  /** Says that all is well, and sends an error in the place of an answer. */
  | { readonly type: 'error-body' }
  /** Sends one event that is no JSON in the middle of a good answer. */
  | { readonly type: 'corrupt-chunk' }
  /** Sends this event after the first words, and ends. */
  | { readonly type: 'event'; readonly event: object }
  /** Sends these events instead of an answer. */
  | { readonly type: 'events'; readonly events: readonly object[] };

const eventStream = { 'content-type': 'text/event-stream' };
const json = { 'content-type': 'application/json' };

function startStream(response: ServerResponse, events: readonly string[]): void {
  response.writeHead(200, eventStream);
  for (const event of events) response.write(event);
}

function sendStatus(response: ServerResponse, { status, headers, body }: Extract<Fault, { readonly type: 'status' }>, api: WireApi): void {
  const content = body ?? errorBody(api, status, `This is a fault with status ${String(status)}.`);
  response.writeHead(status, { ...(typeof content === 'string' ? { 'content-type': 'text/html' } : json), ...headers });
  response.end(typeof content === 'string' ? content : JSON.stringify(content));
}

// The words come first, then the call: what comes before the middle is words.
function firstWords(events: readonly string[]): readonly string[] {
  const said = events.findIndex((event) => event.includes('lo"'));
  return events.slice(0, said + 1);
}

function play(response: ServerResponse, fault: Fault, api: WireApi): void {
  const { events } = sampleAnswer(api);
  const begun = firstWords(events);
  const asEvent = (data: object): string => `data: ${JSON.stringify(data)}\n\n`;
  switch (fault.type) {
    case 'status':
      sendStatus(response, fault, api);
      break;
    case 'reset':
      response.socket?.resetAndDestroy();
      break;
    case 'ends-early':
      startStream(response, begun);
      response.end();
      break;
    case 'destroyed':
      startStream(response, begun);
      // Not before the words are out.
      setTimeout(() => response.socket?.destroy(), 20);
      break;
    case 'stalls':
      startStream(response, begun);
      break;
    case 'silent':
      break;
    case 'empty-stream':
      startStream(response, []);
      response.end();
      break;
    case 'error-body':
      response.writeHead(200, json);
      response.end(JSON.stringify(errorBody(api, 500, 'The server had an error while processing your request.')));
      break;
    case 'corrupt-chunk':
      startStream(response, [...begun, 'data: {"this is": no JSON\n\n', ...events.slice(begun.length)]);
      response.end();
      break;
    case 'event':
      startStream(response, [...begun, asEvent(fault.event)]);
      response.end();
      break;
    case 'events':
      startStream(response, fault.events.map(asEvent));
      response.end();
      break;
  }
}

/** Starts a server that fails in this way, in the form of this kind of provider. */
export function startFaultServer(fault: Fault, api: WireApi): Promise<LoopbackServer> {
  return startLoopbackServer((_, response) => {
    play(response, fault, api);
  });
}
