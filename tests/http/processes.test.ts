// A page over a real socket, with the worker and the web server in processes of their own.
import { setTimeout as pause } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { pickRuns } from '../support/test-scale.ts';
import { getSaid, readFor, readToRest, startWriting } from './page.ts';
import { startPair } from './processes.ts';
import { View } from './view-reader.ts';

describe('a page', () => {
  const moments = pickRuns({ quick: 6, slow: 200 });

  it(`that is reloaded in mid-answer, at ${moments} random moments, shows in the end what one that stayed shows`, async () => {
    const pair = await startPair();
    let at = 0;
    while (at < moments) {
      const { events } = await startWriting(pair, 'write 120 4');
      const stayed = readToRest(new View(), events);
      const leavers = Array.from({ length: Math.min(10, moments - at) }, async (_, n) => {
        // Every other one reloads the whole page; the others only lose their connection.
        const view = new View();
        if (await readFor(view, events, Math.random() * 900)) return view;
        const next = n % 2 === 0 ? new View() : view;
        next.faults.push(...(n % 2 === 0 ? view.faults : []));
        return readToRest(next, events);
      });
      const views = await Promise.all(leavers);
      const { stored, faults, text } = await stayed;
      expect([faults, text]).toEqual([[], getSaid(120)]);
      for (const view of views) {
        expect([view.faults, view.text, view.openText]).toEqual([[], getSaid(120), '']);
        expect(view.stored).toEqual(stored);
      }
      at += leavers.length;
    }
  }, 120_000);

  it('that cancels reaches a model call in the other process within a second', async () => {
    const pair = await startPair();
    const { id, events } = await startWriting(pair, 'hang');
    const reading = readToRest(new View(), events);
    await pause(500);
    const aborted = pair.worker.hear('aborted');
    const sentAt = Date.now();
    await pair.post(`/sessions/${id}/cancel`, { reason: 'enough' });
    expect(((await aborted).at ?? 0) - sentAt).toBeLessThan(1000);
    await reading;
  }, 30_000);
});
