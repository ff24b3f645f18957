export { createDirectEffects } from './direct-effects.ts';
export { EffectClass } from './effect-class.ts';
export type { EffectFailure, EffectOptions, EffectResult, Effects, SleepResult } from './effects.ts';
export { createCancelledEffect, toFailure, withKeyPrefix } from './effects.ts';
export { createInnerEffects } from './inner-effects.ts';
export { LateResultError } from './late-result-error.ts';
