import { relative } from 'node:path';

/** Path of a file from here, if it is near. */
export function toRelativePath(file: string): string {
  const near = relative('', file);
  return near.startsWith('..') ? file : near;
}
