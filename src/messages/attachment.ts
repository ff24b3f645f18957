// Pictures and files: what is wrong with one that nobody could read, and what a model is told in the place of one.
import { toShownText } from '../lib/index.ts';
import type { FilePart, ImagePart } from './content-part.ts';
import type { Part } from './parts.ts';
import type { ToolOutput } from './tool-result.ts';

/** A part that holds or names something other than words. */
export type Attachment = ImagePart | FilePart;

/** The field of an attachment that nobody can read, and what it must be. */
export interface AttachmentProblem {
  readonly field: 'url' | 'data' | 'id' | 'mediaType';
  readonly expected: string;
  readonly found: string | undefined;
}

const inlineData = /^data:[^,]*;base64,/i;
const base64 = /^[\w+/-]+={0,2}$/;
const topTypes = 'application|audio|font|image|message|model|multipart|text|video';
const mediaType = new RegExp(`^(?:${topTypes})$|^[\\w!#$&^.+-]+/(?:[\\w!#$&^.+-]+|\\*)(?:\\s*;.*)?$`, 'i');

function isUrl(text: string): boolean {
  try {
    return new URL(text).protocol !== '';
  } catch {
    return false;
  }
}

function isBase64(text: string): boolean {
  // First without white space: a pattern that allows it anywhere is slow on long runs of it.
  const compact = text.replace(/\s+/g, '');
  return base64.test(compact) && compact.replace(/=+$/, '').length % 4 !== 1;
}

function isReadableUrl(url: string): boolean {
  const inline = inlineData.exec(url);
  return inline === null ? isUrl(url) : isBase64(url.slice(inline[0].length));
}

/** True for pictures and files. */
export const isAttachment = (part: Part): part is Attachment => part.type === 'image' || part.type === 'file';

/** Returns the reason why no model can read an attachment; undefined if one may. */
export function findAttachmentProblem(part: Attachment): AttachmentProblem | undefined {
  const { type, url, data, mediaType: given } = part;
  if (given === undefined ? type === 'file' : !mediaType.test(given))
    return { field: 'mediaType', expected: 'a media type such as "image/png"', found: given };
  if (url !== undefined) return isReadableUrl(url) ? undefined : { field: 'url', expected: 'a URL', found: url };
  if (type === 'file' && part.id !== undefined)
    return part.id === '' ? { field: 'id', expected: 'a string that is not empty', found: '' } : undefined;
  return data !== undefined && isBase64(data) ? undefined : { field: 'data', expected: 'base64 data', found: data };
}

/** Names an attachment: `report.zip (application/zip)`. */
export function describeAttachment(part: Attachment): string {
  const name = (part.type === 'file' ? part.filename : undefined) ?? part.type;
  const { mediaType: kind = '' } = part;
  return toShownText(kind === '' ? name : `${name} (${kind})`);
}

/** Words in the place of an attachment. */
export const toLeftOutText = (part: Attachment, reason: string): string => `[attachment ${describeAttachment(part)} left out: ${reason}]`;

/** An attachment of a message, and its place in it. */
export interface PlacedAttachment {
  readonly part: Attachment;
  /** Index of the part of the message. */
  readonly index: number;
  /** Index in the output of a tool, if the part is a result. */
  readonly inner?: number;
}

/** Lists the attachments in the parts of a message, those in results too. */
export function listAttachments(parts: readonly Part[]): readonly PlacedAttachment[] {
  return parts.flatMap((part, index): readonly PlacedAttachment[] => {
    if (isAttachment(part)) return [{ part, index }];
    if (part.type !== 'tool-result' || part.output.type !== 'content') return [];
    return part.output.parts.flatMap((content, inner) => (isAttachment(content) ? [{ part: content, index, inner }] : []));
  });
}

/** Returns the path of an attachment in its message: `parts[1].output.parts[0]`. */
export const toAttachmentPath = ({ index, inner }: Omit<PlacedAttachment, 'part'>): string =>
  inner === undefined ? `parts[${index}]` : `parts[${index}].output.parts[${inner}]`;

/** Describes the first attachment that no model can read; undefined if there is none. */
export function findUnreadable(parts: readonly Part[]): string | undefined {
  for (const placed of listAttachments(parts)) {
    const problem = findAttachmentProblem(placed.part);
    if (problem !== undefined) return `${toAttachmentPath(placed)}.${describeProblem(problem)}`;
  }
  return undefined;
}

const longestFound = 60;

function describeProblem({ field, expected, found }: AttachmentProblem): string {
  if (found === undefined) return `${field} must be ${expected}`;
  return `${field} must be ${expected}, not ${JSON.stringify(found.length > longestFound ? `${found.slice(0, longestFound)}…` : found)}`;
}

/** Returns the output of a tool with words in the place of attachments that no model can read, and says which these are. */
export function withoutUnreadable(output: ToolOutput, onProblem: (problem: string) => void): ToolOutput {
  if (output.type !== 'content') return output;
  const parts = output.parts.map((part, index) => {
    const problem = isAttachment(part) ? findAttachmentProblem(part) : undefined;
    if (problem === undefined || !isAttachment(part)) return part;
    const words = describeProblem(problem);
    onProblem(`parts[${index}].${words}`);
    return { type: 'text', text: toLeftOutText(part, `its ${words}`) } as const;
  });
  return parts.every((part, index) => part === output.parts[index]) ? output : { type: 'content', parts };
}
