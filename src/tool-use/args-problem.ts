import { toCanonical } from '../lib/index.ts';
import type { ToolSet } from '../tools/index.ts';
import { prepareCall } from '../tools/index.ts';

/** What is wrong with the arguments for a tool; undefined where they fit, or where there is no such tool. */
export async function argsProblem<Context>(tools: ToolSet<Context>, name: string, args: unknown): Promise<string | undefined> {
  const canonical = toCanonical(args);
  if (!canonical.ok) return `The arguments cannot be stored: ${canonical.path === '' ? 'the whole' : canonical.path} ${canonical.problem}.`;
  if (tools.get(name) === undefined) return undefined;
  // Holds: no context is needed to check arguments.
  const prepared = await prepareCall(tools, { id: 'check', name, args: canonical.value }, { context: undefined as never, approved: true });
  return prepared.type === 'ended' && prepared.execution.status === 'failed' ? prepared.execution.failure.message : undefined;
}
