export type { EffectRow } from './journal.ts';
export { Journal } from './journal.ts';
