/** A function with bivariant parameters: one that takes narrow values is assignable to one declared with wide ones. */
export type Callback<Args extends readonly unknown[], Result> = { call(...args: Args): Result }['call'];
