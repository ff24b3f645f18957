import { describe, expect, it } from 'vitest';
import { mapLimited } from './map-limited.ts';

describe('mapLimited', () => {
  it('keeps the order of the items and never has more at work than allowed', async () => {
    let [working, most] = [0, 0];
    const results = await mapLimited([...Array(50).keys()], 3, async (item, index) => {
      most = Math.max(most, (working += 1));
      for (let turn = 0; turn < item % 7; turn += 1) await Promise.resolve();
      working -= 1;
      return [item, index];
    });
    expect(results).toEqual([...Array(50).keys()].map((item) => [item, item]));
    expect(most).toBe(3);
  });

  it('does nothing where there is nothing', async () => {
    expect(await mapLimited([], 3, () => Promise.reject(new Error('called')))).toEqual([]);
  });

  it('rejects as the work does', async () => {
    await expect(mapLimited([1, 2], 1, () => Promise.reject(new Error('broken')))).rejects.toThrow('broken');
  });

  it('begins nothing more once a piece of work has rejected, and waits for what runs', async () => {
    const [begun, ended]: [number[], number[]] = [[], []];
    const work = async (item: number): Promise<void> => {
      begun.push(item);
      if (item === 1) throw new Error('the store is full');
      for (let turn = 0; turn < 5; turn += 1) await Promise.resolve();
      ended.push(item);
    };
    await expect(mapLimited([...Array(40).keys()], 3, work)).rejects.toThrow('the store is full');
    expect([begun.length < 6, ended.length]).toEqual([true, begun.length - 1]);
  });
});
