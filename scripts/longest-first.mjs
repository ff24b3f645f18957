// Starts the longest test files first. A long file that starts last leaves the other processors without work. Without results of an earlier
// run, vitest goes by the size of a file, and most slow tests are two lines that import another file.
import { BaseSequencer } from 'vitest/node';

// Roughly by the time that each took beside the others.
const longest = [
  'tests/sessions/runtime-conformance.slow.test.ts',
  'tests/sessions/crash-everywhere.slow.test.ts',
  'tests/demo-page.slow.test.ts',
  'tests/sessions/processes.slow.test.ts',
  'src/step-by-step/loop.properties.slow.test.ts',
  'tests/sessions/chaos.slow.test.ts',
  'tests/sessions/broken-text.slow.test.ts',
  'src/hooks/hooks.properties.slow.test.ts',
  'tests/sessions/random-damage.slow.test.ts',
  'src/capabilities/nested-runs.slow.test.ts',
  'tests/http/processes.slow.test.ts',
  'tests/ui/any-order.slow.test.ts',
  'src/agent/slim/slim.properties.slow.test.ts',
  'src/inference/with-model-limits.slow.test.ts',
  'src/chat/chat.properties.slow.test.ts',
  'src/sessions/sqlite/random-damage.slow.test.ts',
  'tests/http/slow-readers.slow.test.ts',
];

/** @param {{ readonly moduleId: string }} file */
function getRank({ moduleId }) {
  const rank = longest.findIndex((name) => moduleId.endsWith(`/${name}`));
  return rank === -1 ? longest.length : rank;
}

export class LongestFirst extends BaseSequencer {
  /**
   * @override
   * @type {BaseSequencer['sort']}
   */
  async sort(files) {
    return (await super.sort(files)).toSorted((one, other) => getRank(one) - getRank(other));
  }
}
