import { describeValue } from '../lib/index.ts';
import { quoteName } from './clip-text.ts';

const accepted = /^[a-zA-Z0-9_-]{1,64}$/;

/** Returns the problem with a tool name; undefined if it is valid. All providers take letters, digits, "_" and "-", up to 64 of them. */
export function findToolNameProblem(name: unknown): string | undefined {
  if (typeof name !== 'string') return `its name must be a string, not ${describeValue(name)}.`;
  return accepted.test(name) ? undefined : 'its name must have 1 to 64 letters (a-z), digits, "_" or "-". Providers reject other names.';
}

// Levenshtein's distance, one row at a time.
function distance(from: string, to: string): number {
  let row = Array.from({ length: to.length + 1 }, (_, index) => index);
  for (let i = 1; i <= from.length; i += 1) {
    const next = [i];
    for (let j = 1; j <= to.length; j += 1) {
      const swap = (row[j - 1] ?? 0) + (from[i - 1] === to[j - 1] ? 0 : 1);
      next.push(Math.min(swap, (row[j] ?? 0) + 1, (next[j - 1] ?? 0) + 1));
    }
    row = next;
  }
  return row[to.length] ?? 0;
}

const plain = (name: string): string =>
  name
    .slice(0, 64)
    .toLowerCase()
    .replaceAll(/[^a-z0-9]/g, '');

function findCloseNames(name: string, names: readonly string[]): readonly string[] {
  const wanted = plain(name);
  const isClose = (other: string): boolean => {
    const found = plain(other);
    const mayDiffer = Math.max(1, Math.floor(Math.min(wanted.length, found.length) / 3));
    return wanted !== '' && found !== '' && (wanted.includes(found) || found.includes(wanted) || distance(wanted, found) <= mayDiffer);
  };
  return names.filter(isClose).slice(0, 3);
}

const mostListed = 20;

function joinNames(names: readonly string[]): string {
  const left = names.length - mostListed;
  return `${names.slice(0, mostListed).join(', ')}${left > 0 ? ` and ${left} more` : ''}`;
}

/** Explains to a model that a tool does not exist, and suggests similar names. */
export function unknownToolText(name: string, names: readonly string[]): string {
  const close = findCloseNames(name, names);
  if (names.length === 0) return `There is no tool named ${quoteName(name)}, and no other tool either.`;
  if (close.length === 0) return `There is no tool named ${quoteName(name)}. The tools are: ${joinNames(names)}.`;
  return `There is no tool named ${quoteName(name)}. Did you mean ${close.map(quoteName).join(' or ')}?`;
}
