// Texts that are kept in this tab, also when the page is loaded again. A browser may refuse its storage: they are then kept until that.
const memory = new Map<string, string>();

const toKey = (name: string): string => `stepline ${name}`;

/** Reads a text; empty if none is kept. */
export function readKept(name: string): string {
  const kept = memory.get(name);
  if (kept !== undefined) return kept;
  try {
    return sessionStorage.getItem(toKey(name)) ?? '';
  } catch {
    return '';
  }
}

/** Keeps a text. An empty one is forgotten. */
export function keep(name: string, text: string): void {
  memory.set(name, text);
  try {
    if (text === '') sessionStorage.removeItem(toKey(name));
    else sessionStorage.setItem(toKey(name), text);
  } catch {
    // Refused, or full: the memory has it.
  }
}
