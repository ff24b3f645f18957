/** An answer of a scripted model: text, or a call of a tool. */
export type Answer = string | { readonly id: string; readonly name: string; readonly args: Readonly<Record<string, unknown>> };
