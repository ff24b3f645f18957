export type { ConformanceCase } from './conformance.ts';
export { ConformanceError } from './conformance-error.ts';
export { criterionConformance } from './criterion-conformance.ts';
export { effectsConformance } from './effects-conformance.ts';
export type { StagedAnswer } from './model-conformance.ts';
export { modelConformance } from './model-conformance.ts';
export { runnableConformance } from './runnable-conformance.ts';
export type { ScriptedAnswer, ScriptedEntry, ScriptedModel, ScriptedModelOptions, ScriptedToolCall } from './scripted-model.ts';
export { scriptedModel } from './scripted-model.ts';
export type { Script, ScriptedProcessOptions, ScriptedStep, ScriptedStepData } from './scripted-process.ts';
export { createScriptedProcess, ScriptedState } from './scripted-process.ts';
// Controllable time and ids.
export type { FakeClock } from '../lib/index.ts';
export { createCountingIds, createFakeClock } from '../lib/index.ts';
export { stateCodecConformance } from './state-codec-conformance.ts';
export type { SessionStorePlace } from './session-store-sample.ts';
export { sessionStoreConformance } from './session-store-conformance.ts';
