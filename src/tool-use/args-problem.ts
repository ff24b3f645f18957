import { toCanonical } from '../lib/index.ts';
import type { ToolSet } from '../tools/index.ts';
import { findArgsProblem } from '../tools/index.ts';

/** The problem with the arguments for a tool; undefined if they fit, or if there is no such tool. */
export async function argsProblem<Context>(tools: ToolSet<Context>, name: string, args: unknown): Promise<string | undefined> {
  const canonical = toCanonical(args);
  if (!canonical.ok) return `The arguments cannot be stored: ${canonical.path === '' ? 'the whole' : canonical.path} ${canonical.problem}.`;
  const tool = tools.get(name);
  return tool === undefined ? undefined : findArgsProblem(tool, canonical.value);
}
