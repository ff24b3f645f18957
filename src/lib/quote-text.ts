const longest = 60;

/** Quotes text from outside in a message: cut after 60 characters, on one line. */
export function quoteText(text: string): string {
  return JSON.stringify(text.length > longest ? `${text.slice(0, longest).toWellFormed()}…` : text);
}

// A longer key comes from outside, and is cut.
const plainKey = /^[A-Za-z_$][\w$]{0,59}$/;

/** The way to a field or an item below `path`, as in `steps[2].usage["cache read"]`. */
export function childPath(path: string, key: string | number): string {
  if (typeof key === 'number') return `${path}[${String(key)}]`;
  if (!plainKey.test(key)) return `${path}[${quoteText(key)}]`;
  return path === '' ? key : `${path}.${key}`;
}
