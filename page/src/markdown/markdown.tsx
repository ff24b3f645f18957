// Markdown as React elements.
// Owns:     which elements a text may become.
// Does not: make HTML: no string is ever read as HTML, and HTML in a text is shown as text.
// M1. Links lead to http, https and mailto only, in another tab that knows nothing of this one.
// M2. Nothing is loaded: an image is a link with its alternative text.
// M3. No text throws: one that cannot be read, or is too long or too deep, is shown as it is.
import type { Token, Tokens } from 'marked';
import { Lexer } from 'marked';
import type { ReactElement, ReactNode } from 'react';
import { createElement, Fragment, memo } from 'react';
import { decodeEntities } from './entities.ts';
import { toSafeLink } from './safe-link.ts';

const longestText = 200_000;
const deepest = 24;

type Render = (tokens: readonly Token[] | undefined, depth: number) => ReactNode;

/** Shows a link, or its text alone if its address is not allowed. Its title is its address: what a text says of it may be a lie. */
function renderLink(address: string, content: ReactNode): ReactElement {
  const href = toSafeLink(decodeEntities(address));
  if (href === undefined) return <span title={address}>{content}</span>;
  return (
    <a href={href} target="_blank" rel="noopener noreferrer nofollow" title={href}>
      {content}
    </a>
  );
}

function renderList(token: Tokens.List, depth: number): ReactElement {
  const items = token.items.map((item, index) => (
    <li key={index} className={item.task ? 'task' : undefined}>
      {item.task && <input type="checkbox" checked={item.checked === true} disabled aria-label={item.checked === true ? 'done' : 'open'} />}
      {renderAll(
        item.tokens.filter(({ type }) => type !== 'checkbox'),
        depth,
      )}
    </li>
  ));
  if (!token.ordered) return <ul>{items}</ul>;
  return <ol start={typeof token.start === 'number' ? token.start : 1}>{items}</ol>;
}

function renderTable({ header, rows }: Tokens.Table, depth: number): ReactElement {
  const toCell = (tag: 'th' | 'td') => (cell: Tokens.TableCell, index: number) =>
    createElement(tag, { key: index, className: cell.align === null ? undefined : `align-${cell.align}` }, renderAll(cell.tokens, depth));
  return (
    <div className="table-frame" tabIndex={0} role="group" aria-label="Table">
      <table>
        <thead>
          <tr>{header.map(toCell('th'))}</tr>
        </thead>
        <tbody>
          {rows.map((row, index) => (
            <tr key={index}>{row.map(toCell('td'))}</tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}

function renderCode({ text, lang }: Tokens.Code): ReactElement {
  const language = lang?.split(/\s/)[0] ?? '';
  return (
    <pre tabIndex={0} data-language={language === '' ? undefined : language}>
      <code>{text}</code>
    </pre>
  );
}

const renderHeading = ({ depth: level, tokens }: Tokens.Heading, depth: number): ReactElement =>
  createElement(`h${Math.min(6, level)}`, null, renderAll(tokens, depth));

/** Moves the headings of a text below that of the page, without a gap: the highest is of the second level. */
function lowerHeadings(tokens: readonly Token[]): readonly Token[] {
  const levels = tokens.flatMap((token) => (token.type === 'heading' ? [(token as Tokens.Heading).depth] : []));
  const used = [...new Set(levels)].sort();
  return tokens.map((token) => (token.type === 'heading' ? { ...token, depth: used.indexOf((token as Tokens.Heading).depth) + 2 } : token));
}

/** Renders one token. Holds: marked gives each type of token the fields of that type. */
function renderToken(token: Token, depth: number): ReactNode {
  switch (token.type) {
    case 'space':
    case 'def':
      return null;
    case 'hr':
      return <hr />;
    case 'br':
      return <br />;
    case 'heading':
      return renderHeading(token as Tokens.Heading, depth);
    case 'paragraph':
      return <p>{renderAll(token.tokens, depth)}</p>;
    case 'blockquote':
      return <blockquote>{renderAll(token.tokens, depth)}</blockquote>;
    case 'list':
      return renderList(token as Tokens.List, depth);
    case 'table':
      return renderTable(token as Tokens.Table, depth);
    case 'code':
      return renderCode(token as Tokens.Code);
    case 'codespan':
      return <code>{(token as Tokens.Codespan).text}</code>;
    case 'strong':
      return <strong>{renderAll(token.tokens, depth)}</strong>;
    case 'em':
      return <em>{renderAll(token.tokens, depth)}</em>;
    case 'del':
      return <del>{renderAll(token.tokens, depth)}</del>;
    case 'link':
      return renderLink((token as Tokens.Link).href, renderAll(token.tokens, depth));
    case 'image':
      return renderLink((token as Tokens.Image).href, `Image: ${(token as Tokens.Image).text || 'no description'}`);
    case 'escape':
      return (token as Tokens.Escape).text;
    case 'text':
      return token.tokens === undefined ? decodeEntities((token as Tokens.Text).text) : renderAll(token.tokens, depth);
    // HTML, and whatever marked may invent.
    default:
      return token.raw;
  }
}

const renderAll: Render = (tokens, depth) => {
  if (tokens === undefined) return null;
  if (depth >= deepest) return tokens.map(({ raw }) => raw).join('');
  return tokens.map((token, index) => <Fragment key={index}>{renderToken(token, depth + 1)}</Fragment>);
};

/** Renders a text; as it is if it cannot be read. */
export function renderMarkdown(text: string): ReactNode {
  const plain = <p className="plain">{text}</p>;
  if (text.length > longestText) return plain;
  try {
    return renderAll(lowerHeadings(Lexer.lex(text, { gfm: true, breaks: true })), 0);
  } catch {
    return plain;
  }
}

/** Leaves out a last line of dashes or equals signs: it would make a heading of the line before, until the rest of it comes. */
export const withoutOpenLine = (text: string): string => text.replace(/\n[ \t]*(?:-+|=+)[ \t]*$/, '');

interface MarkdownProps {
  readonly text: string;
  /** True while it is being written. */
  readonly isOpen?: boolean;
}

/** A text that was written as Markdown. */
export const Markdown = memo(function Markdown({ text, isOpen = false }: MarkdownProps): ReactElement {
  return <div className={isOpen ? 'markdown open' : 'markdown'}>{renderMarkdown(isOpen ? withoutOpenLine(text) : text)}</div>;
});
