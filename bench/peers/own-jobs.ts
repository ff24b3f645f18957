// Work that only Stepline has: events on their way to a page.
import type { BaseEvent } from 'stepline';
import { createAgent, defineTool } from 'stepline';
import type { Envelope } from 'stepline/broadcasting';
import { AgentEventEnvelopeAdapter } from 'stepline/broadcasting';
import { createView, reduce } from 'stepline/ui';
import { look, question, toolDescription, toolInput } from './contender.ts';
import type { Effort } from './measure-cpu.ts';
import { measureCpu, repeatFor } from './measure-cpu.ts';
import { createOwnModel } from './own-model.ts';

async function collectEvents(): Promise<readonly BaseEvent[]> {
  const tally = { requests: 0, toolRuns: 0, notices: 0, pieces: 0 };
  const tool = defineTool({ name: 'look', description: toolDescription, input: toolInput, run: (args) => look(tally, args) });
  const model = createOwnModel({ steps: 100, calls: 1, deltas: 1, streams: true, tally });
  const agent = createAgent({ model, tools: { look: tool }, limits: { steps: 1000, tokens: 1_000_000_000 } });
  const events: BaseEvent[] = [];
  agent.wiretap((event) => events.push(event));
  await agent.start(question).result;
  return events;
}

function broadcastAll(events: readonly BaseEvent[], take: (envelopes: readonly Envelope[]) => void): void {
  const adapter = new AgentEventEnvelopeAdapter({ send: (_, envelopes) => take(envelopes) }, { preset: 'standard' });
  for (const event of events) adapter.broadcast(event);
  adapter.close();
}

/** Measures the adapter that makes envelopes of events: microseconds for an event. */
export async function measureEnvelopes({ warmUpMs, measureMs }: Effort): Promise<number> {
  const events = await collectEvents();
  const work = async (): Promise<void> => broadcastAll(events, () => undefined);
  await repeatFor(warmUpMs, work);
  return (await measureCpu(work, measureMs)) / events.length;
}

/** Measures the reducer of a page, which shows the messages after each envelope: microseconds for an envelope. */
export async function measureReducer({ warmUpMs, measureMs }: Effort): Promise<number> {
  const envelopes: Envelope[] = [];
  broadcastAll(await collectEvents(), (sent) => envelopes.push(...sent));
  const sessionId = envelopes[0]?.session_id ?? '';
  const work = (): Promise<void> => {
    let [view, read] = [createView(sessionId), 0];
    for (const envelope of envelopes) {
      view = reduce(view, envelope);
      read += view.messages.length;
    }
    return read > 0 ? Promise.resolve() : Promise.reject(new Error('The view stayed empty.'));
  };
  await repeatFor(warmUpMs, work);
  return (await measureCpu(work, measureMs)) / envelopes.length;
}
