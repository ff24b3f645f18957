export type { Pricing } from './ask-model.ts';
export { askModel, toCost } from './ask-model.ts';
export type { Capability } from './capability.ts';
export { checkCapabilities, defineAnyCapability } from './capability.ts';
export type { GuardPoint } from './guard-hook.ts';
export { guardHook } from './guard-hook.ts';
export type { Hook, HookOptions } from './hook.ts';
export { createChain, numberHooks } from './chain-of.ts';
export { defineAnyHook } from './define-any-hook.ts';
export { HookChain } from './hook-chain.ts';
export type { ChangesAt, HookChange, Vote } from './hook-change.ts';
export { HookApplied, HookReported, ToolCallBlocked } from './hook-events.ts';
export type {
  AfterInferenceFacts,
  AfterStepFacts,
  AfterToolFacts,
  BeforeInferenceFacts,
  BeforeToolFacts,
  ExecutionEndFacts,
  HookFacts,
  OnErrorFacts,
} from './hook-facts.ts';
export { HookFailedError } from './hook-failed-error.ts';
export { HookPoint } from './hook-point.ts';
