import type { Style, StyleName } from './style.ts';
import { cut, getWidth, pad, toLine, toLines, wrap } from './text.ts';

/** The room that output has. */
export interface Page {
  /** Columns of the terminal; undefined in a pipe: nothing is cut or wrapped there. */
  readonly width: number | undefined;
  readonly style: Style;
}

/** Cuts a line to the page. */
export const fitLine = ({ width }: Page, line: string): string => (width === undefined ? line : cut(line, width));

/** Renders foreign text as paragraphs of the page. A line that is wrapped keeps its indentation. */
export function renderText({ width }: Page, text: string, indent = ''): string {
  return toLines(text)
    .flatMap((line) => {
      const own = /^ */.exec(line)?.[0] ?? '';
      const before = `${indent}${own}`;
      const lines = width === undefined ? [line.slice(own.length)] : wrap(line.slice(own.length), Math.max(20, width - getWidth(before)));
      return lines.map((each) => `${before}${each}`.trimEnd());
    })
    .join('\n');
}

/** A named fact; absent if there is nothing to say. */
export type Fact = readonly [name: string, value: string | undefined, style?: StyleName | undefined];

/** Renders facts, one per line or paragraph, their values one below the other. */
export function renderFacts(page: Page, facts: readonly Fact[], indent = ''): string {
  const known = facts.flatMap(([name, value, style]) =>
    value === undefined || value === '' ? [] : [{ name, value: toLine(value), style }],
  );
  const names = Math.max(0, ...known.map(({ name }) => name.length));
  return known
    .map(({ name, value, style }) => {
      const room = page.width === undefined ? undefined : Math.max(20, page.width - indent.length - names - 2);
      const [first = '', ...rest] = room === undefined ? [value] : wrap(value, room);
      const lines = [first, ...rest].map((line) => page.style(style, line));
      return lines.map((line, index) => `${indent}${page.style('dim', pad(index === 0 ? name : '', names))}  ${line}`.trimEnd()).join('\n');
    })
    .join('\n');
}
