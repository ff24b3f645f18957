export type { EffectRow, WriteEffects } from './journal.ts';
export { Journal } from './journal.ts';
