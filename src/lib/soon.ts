/** What is there at once, or comes later. Where most answers are there at once, a promise for each would cost. */
export type Soon<Value> = Value | Promise<Value>;

/** True for what can be waited for, whoever made it. May throw, where a getter does. */
export const isThenable = (value: unknown): value is PromiseLike<unknown> =>
  typeof value === 'object' && value !== null && typeof Reflect.get(value, 'then') === 'function';
