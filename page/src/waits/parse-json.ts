// JSON that a person edits.

/** Returns the value of a text, or the problem with it in words. */
export function parseJson(text: string): { readonly value: unknown } | { readonly problem: string } {
  if (text.trim() === '') return { problem: 'Write the arguments as JSON, for example { "amount": 5 }.' };
  try {
    const value: unknown = JSON.parse(text);
    return { value };
  } catch (error) {
    return { problem: `This is not valid JSON yet. ${describePlace(error, text)}` };
  }
}

/** Says in which line the problem is: browsers name a position. */
function describePlace(error: unknown, text: string): string {
  const message = error instanceof Error ? error.message : '';
  const [, position] = /position (\d+)/.exec(message) ?? [];
  if (position === undefined) return message;
  const before = text.slice(0, Number(position)).split('\n');
  return `Look at line ${before.length}, column ${(before.at(-1)?.length ?? 0) + 1}.`;
}
