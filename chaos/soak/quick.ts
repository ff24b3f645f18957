import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { runSoak } from './run-soak.ts';
const mb = (n: number) => (n / 2 ** 20).toFixed(1).padStart(7);
const problems = new Map<string, number>();
const [minutes, rate, every] = process.argv.slice(2).map(Number);
await runSoak({
  folder: mkdtempSync(join(tmpdir(), 'soak-')), minutes: minutes!, rate: rate!, sampleEveryMs: (every ?? 60) * 1000,
  onSample: (s) => console.log(`${s.seconds.toFixed(0).padStart(5)} s ${String(s.sessions).padStart(7)} sessions rss ${mb(s.rss)} heap ${mb(s.heapUsed)} total ${mb(s.heapTotal)} ext ${mb(s.external)} cpu ${(process.cpuUsage().user / 1e6).toFixed(0)} problems ${JSON.stringify([...problems])}`),
  onProblem: (error, where) => { const k = `${where.replace(/\d+/g, 'N')}: ${String(error).slice(0, 150).replace(/\d+/g, 'N')}`; problems.set(k, (problems.get(k) ?? 0) + 1); },
});
