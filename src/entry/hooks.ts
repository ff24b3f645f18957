export type {
  AfterInferenceFacts,
  AfterStepFacts,
  AfterToolFacts,
  BeforeInferenceFacts,
  BeforeToolFacts,
  ExecutionEndFacts,
  HookChange,
  HookFacts,
  HookOptions,
  OnErrorFacts,
  Vote,
} from '../hooks/index.ts';
export { defineAnyCapability, defineAnyHook, guardHook, HookChain, HookFailedError, HookPoint } from '../hooks/index.ts';
