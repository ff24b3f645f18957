import { checkKeys, describeValue, InvalidArgumentError, isRecord, omitUndefined } from '../lib/index.ts';

/** Options of createPageHandler(). */
export interface PageOptions {
  /** Path that the page is served under. @default '/' */
  readonly basePath?: string;
  /** Address of createSessionHandler() as the browser sees it: a path, or a whole address. @default '/agents' */
  readonly api?: string;
  /** Name of the page. @default 'Stepline' */
  readonly title?: string;
  /** Address from which the page fetches a token before each request, as text. @default none: cookies say who it is */
  readonly tokenUrl?: string;
  /** Address of a tour. @default none: the page has no tour */
  readonly tour?: string;
  /** Messages that people can begin a session with, by a click. @default none */
  readonly suggestions?: readonly string[];
}

/** Options that were checked, as the page in the browser reads them. */
export interface PageConfig {
  /** Without a slash at its end: empty for the root. */
  readonly basePath: string;
  readonly api: string;
  readonly title: string;
  readonly tokenUrl?: string;
  readonly tour?: string;
  readonly suggestions?: readonly string[];
}

function parseBasePath(given: unknown): string {
  if (given === '' || given === '/') return '';
  if (typeof given === 'string' && /^(?:\/[\w.~!$&'()*+,;=:@%-]+)+\/?$/.test(given)) return given.replace(/\/$/, '');
  throw new InvalidArgumentError(`basePath must be a path such as "/desk", not ${describeValue(given)}.`);
}

/** Checks an address. A path that begins with two slashes would name another host. */
function parseAddress(name: string, given: unknown): string {
  const isPath = typeof given === 'string' && (given === '' || /^\/(?!\/)/.test(given));
  const isWhole = typeof given === 'string' && /^https?:\/\//.test(given) && URL.canParse(given);
  if (isPath || isWhole) return given.replace(/\/$/, '');
  throw new InvalidArgumentError(`${name} must be a path such as "/agents" or an address with https://, not ${describeValue(given)}.`);
}

const parseOptional = (name: string, given: unknown): string | undefined => (given === undefined ? undefined : parseAddress(name, given));

function parseSuggestions(given: unknown): readonly string[] | undefined {
  if (given === undefined) return undefined;
  const isText = (each: unknown): each is string => typeof each === 'string' && each.trim() !== '';
  if (Array.isArray(given) && given.every(isText)) return [...new Set(given)];
  throw new InvalidArgumentError(`suggestions must be a list of non-empty strings, not ${describeValue(given)}.`);
}

/** Checks the options of createPageHandler(). */
export function parsePageOptions(options: PageOptions): PageConfig {
  if (!isRecord(options)) throw new InvalidArgumentError(`createPageHandler() takes options, not ${describeValue(options)}.`);
  checkKeys('createPageHandler()', options, ['basePath', 'api', 'title', 'tokenUrl', 'tour', 'suggestions']);
  const { basePath = '/', api = '/agents', title = 'Stepline', tokenUrl, tour, suggestions } = options;
  if (typeof title !== 'string' || title.trim() === '')
    throw new InvalidArgumentError(`title must be a non-empty string, not ${describeValue(title)}.`);
  return omitUndefined({
    basePath: parseBasePath(basePath),
    api: parseAddress('api', api),
    title,
    tokenUrl: parseOptional('tokenUrl', tokenUrl),
    tour: parseOptional('tour', tour),
    suggestions: parseSuggestions(suggestions),
  });
}
