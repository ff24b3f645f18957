/** A value, or a promise of it. Saves a promise on paths that mostly have the value at once. */
export type Soon<Value> = Value | Promise<Value>;

/** True for anything with a `then` method. Throws if a getter does. */
export const isThenable = (value: unknown): value is PromiseLike<unknown> =>
  ((typeof value === 'object' && value !== null) || typeof value === 'function') && typeof Reflect.get(value, 'then') === 'function';
