export type { FakeClock } from '../lib/index.ts';
export { createCountingIds, createFakeClock } from '../lib/index.ts';
export type {
  AgentSurroundings,
  ConformanceCase,
  JournalAttempt,
  JournalWorld,
  RuntimeWorldFactory,
  RuntimeConformanceCase,
  RuntimeWorld,
  RuntimeWorldOptions,
  ScriptedAnswer,
  ScriptedModel,
  ScriptedStep,
  ScriptedToolCall,
  SessionStorePlace,
} from '../testing/index.ts';
export {
  ConformanceError,
  createConformanceAgents,
  createScriptedProcess,
  criterionConformance,
  effectsConformance,
  journalConformance,
  modelConformance,
  orchestratorConformance,
  scriptedModel,
  ScriptedState,
  sessionRuntimeConformance,
  sessionStoreConformance,
  stateCodecConformance,
  WorldAbility,
} from '../testing/index.ts';
