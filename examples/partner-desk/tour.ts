// The tour: what happens when things go wrong, run out, or wait for somebody. No model, no key.
import type { Screen } from './screen.ts';
import type { Scene } from './tour-guide.ts';
import { createGuide } from './tour-guide.ts';
import { failingTool } from './tour-failures.ts';
import { finalizing, granting } from './tour-limits.ts';
import { surviving } from './tour-killed.ts';
import { approving, storing } from './tour-waiting.ts';

const scenes: readonly (readonly [headline: string, scene: Scene])[] = [
  ['A failing tool, under each error policy', failingTool],
  ['A limit that makes it sum up', finalizing],
  ['A limit that waits for a grant', granting],
  ['An approval, refused and given', approving],
  ['A pause in a file, and a resume elsewhere', storing],
  ['A process that is killed, and another that goes on', surviving],
];

export async function tour(screen: Screen): Promise<void> {
  const guide = createGuide(screen);
  screen.line(`${screen.paint.bold('A tour of Stepline.')} A script answers, not a model; the tools and all decisions are real.`);
  for (const [index, [headline, scene]] of scenes.entries()) {
    screen.line(`\n${screen.paint.bold(screen.paint.cyan(`${index + 1}. ${headline}`))}`);
    await scene(guide);
  }
  screen.line('\nThat was all. npm start talks to you, /why shows every decision, and what is killed goes on at the next start.');
}
