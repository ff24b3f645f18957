export type { FakeClock } from '../lib/index.ts';
export { createCountingIds, createFakeClock } from '../lib/index.ts';
export type {
  ConformanceCase,
  ScriptedAnswer,
  ScriptedModel,
  ScriptedStep,
  ScriptedToolCall,
  SessionStorePlace,
} from '../testing/index.ts';
export {
  ConformanceError,
  createScriptedProcess,
  criterionConformance,
  effectsConformance,
  modelConformance,
  orchestratorConformance,
  scriptedModel,
  ScriptedState,
  sessionStoreConformance,
  stateCodecConformance,
} from '../testing/index.ts';
