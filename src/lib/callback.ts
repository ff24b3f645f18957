/** A function whose parameters are compared both ways, so that what takes narrow values fits where wide ones are declared. */
export type Callback<Args extends readonly unknown[], Result> = { call(...args: Args): Result }['call'];
