// The faults of docs/troubleshooting.md, by their headings.
import { stageCutOff, stageJson, stageNothing } from './answers.ts';
import { stageActiveTime, stageWeekend } from './clocks.ts';
import { stageFlakyTool, stageOneStep, stageOwnRule } from './decisions.ts';
import { stageMissedApproval, stageNobody, stageOutage, stageStuck, stageTwice } from './processes.ts';
import type { Scene } from './scene.ts';

export const scenes: Readonly<Record<string, () => Promise<Scene>>> = {
  'Why did my agent stop after one step?': stageOneStep,
  'How to debug continuation decisions': stageOwnRule,
  'Configuring error policies': stageFlakyTool,
  'Using cumulative time for pause/resume': stageActiveTime,
  'It timed out after the weekend': stageWeekend,
  'The page shows JSON': stageJson,
  'A tool ran twice': stageTwice,
  'It answers nothing': stageNothing,
  'The answer is cut off': stageCutOff,
  'My session will not resume': stageStuck,
  'It gave up during an outage': stageOutage,
  'Nobody runs my session': stageNobody,
  'The page misses an approval': stageMissedApproval,
};
