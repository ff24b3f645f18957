import type { ContentPart, Message, Part, ToolOutput } from '../../messages/index.ts';
import { assertNever } from '../../lib/index.ts';
import { toolResultText } from '../../messages/index.ts';

const charactersPerToken = 4;
const tokensPerMessage = 4;
/** Estimate for a picture or a file: its data is not read as characters. */
const tokensPerFile = 1_000;

const estimateText = (text: string): number => text.length / charactersPerToken;

const contentTokens = (part: ContentPart): number => (part.type === 'text' ? estimateText(part.text) : tokensPerFile);

const outputTokens = (output: ToolOutput): number =>
  output.type === 'content' ? output.parts.reduce((sum, part) => sum + contentTokens(part), 0) : estimateText(toolResultText(output));

function partTokens(part: Part): number {
  switch (part.type) {
    case 'text':
    case 'image':
    case 'file':
      return contentTokens(part);
    case 'reasoning':
      return estimateText(part.text);
    case 'tool-call':
      return estimateText(part.toolName) + estimateText(part.rawArgs ?? JSON.stringify(part.args));
    case 'tool-result':
      return estimateText(part.toolName) + outputTokens(part.output);
    case 'source':
    case 'provider':
      return estimateText(JSON.stringify(part));
    default:
      return assertNever(part);
  }
}

/**
 * Estimates the tokens of a message; it does not count them. Four characters a token over all its parts, tool calls and
 * results too, 1,000 for each picture or file, and four for the message itself. Too low for scripts whose characters are a token
 * each; give `countTokens` if it matters.
 */
export function estimateTokens({ parts }: Message): number {
  return Math.ceil(parts.reduce((sum, part) => sum + partTokens(part), 0)) + tokensPerMessage;
}
