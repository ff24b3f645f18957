// What all test files share: a built package, one browser, and a folder for pictures.
import { mkdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import type { TestProject } from 'vitest/node';
import { root, run } from '../../scripts/run.mjs';
import { startChromium } from './chromium.ts';

declare module 'vitest' {
  interface ProvidedContext {
    browserEndpoint: string;
    pictures: string;
  }
}

export async function setup(project: TestProject): Promise<() => Promise<void>> {
  const { ok, output } = await run('node', ['scripts/build.mjs', '--if-stale']);
  if (!ok) throw new Error(`The package could not be built.\n${output}`);
  const pictures = join(root, '.cache', 'screenshots');
  rmSync(pictures, { recursive: true, force: true });
  mkdirSync(pictures, { recursive: true });
  const { endpoint, close } = await startChromium();
  project.provide('browserEndpoint', endpoint);
  project.provide('pictures', pictures);
  return async () => {
    await close();
    console.log(`Screenshots: ${pictures}`);
  };
}
