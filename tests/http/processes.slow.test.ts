// Every random moment, and processes that are killed.
import { setTimeout as pause } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { getSaid, readToRest, startWriting } from './page.ts';
import { startPair } from './processes.ts';
import './processes.test.ts';
import { View } from './view-reader.ts';

describe('a page', () => {
  it.each(['worker', 'web'] as const)(
    'shows the whole answer although the %s is killed in mid-answer',
    async (which) => {
      const pair = await startPair();
      const { events } = await startWriting(pair, 'write 300 5');
      const view = new View();
      const reading = readToRest(view, events);
      while (!view.openText.includes('word-20')) await pause(5);
      await pair.restart(which);
      await reading;
      const fresh = await readToRest(new View(), events);
      expect([view.faults, view.text, view.openText]).toEqual([[], getSaid(300), '']);
      expect([fresh.faults, fresh.stored]).toEqual([[], view.stored]);
    },
    60_000,
  );
});
