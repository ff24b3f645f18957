// An agent in the place of a ToolLoopAgent.
// Owns:     nothing between two calls: the conversation comes with each.
// Does not: store anything. A conversation that outlives its request belongs to a session: see chatRoutes().
import type { Agent as AiAgent, ToolLoopAgent, ToolSet as AiToolSet } from 'ai';
import type { Agent } from '../../../agent/index.ts';
import type { ProblemReporter } from '../../../events/index.ts';
import { checkKeys, createSecret, InvalidArgumentError } from '../../../lib/index.ts';
import type { Tools } from '../../../tools/index.ts';
import { createReporter } from '../../http/index.ts';
import type { AiSdkToolSet } from './ai-sdk-tool-set.ts';
import { createAiSdkTools } from './ai-sdk-tool-set.ts';
import { FollowedRun } from './followed-run.ts';
import { createRunLanguageModel } from './run-language-model.ts';

export interface AiSdkAgentOptions<Context = unknown> {
  /** The host's own things for tools, hooks and instructions. */
  readonly context?: Context;
  /**
   * Key that signs requests for approval, so that a page cannot make up an approved call. Pass the same one to every process that answers.
   * @default a random one, which ends with the process
   */
  readonly approvalSecret?: string;
  /** Receives errors that a page does not see, such as a forged approval. @default console.error */
  readonly onProblem?: ProblemReporter;
}

/** Arguments after the agent. They may be left out unless a context is needed. */
type OptionArgs<Context> = unknown extends Context
  ? readonly [options?: AiSdkAgentOptions<Context>]
  : readonly [options: AiSdkAgentOptions<Context> & { readonly context: Context }];

// The loop of an older `ai` cannot ask a run, nor sign a request for approval.
function toLoopError(error: unknown): unknown {
  if (!(error instanceof Error) || error.name !== 'AI_UnsupportedModelVersionError') return error;
  return new InvalidArgumentError(
    'asAiSdkAgent() needs ai 7: the installed version cannot call it. Upgrade ai, or use toUIMessageStream(), which works with ai 6.',
    error,
  );
}

async function callLoop<Result>(call: () => Promise<Result>): Promise<Result> {
  try {
    return await call();
  } catch (error) {
    throw toLoopError(error);
  }
}

function createAiSdkAgent(agent: Agent, options: AiSdkAgentOptions): AiAgent<never, AiToolSet> {
  checkKeys('asAiSdkAgent()', options, ['context', 'approvalSecret', 'onProblem']);
  const { context, approvalSecret = createSecret() } = options;
  const report = createReporter(options.onProblem);
  const createLoop = async (onError?: (event: { error: unknown }) => void): Promise<ToolLoopAgent<never, AiToolSet>> => {
    // Only whoever calls this agent needs the package.
    const { ToolLoopAgent: Loop } = await import('ai');
    const run = new FollowedRun(agent, context);
    return new Loop<never, AiToolSet>({
      id: agent.id,
      model: createRunLanguageModel(agent.id, run),
      tools: createAiSdkTools({ agent, context, findCall: (id) => run.findCall(id) }),
      // The run decides when it is over.
      stopWhen: () => false,
      toolApproval: ({ toolCall }) => (run.isWaiting(toolCall.toolCallId) ? 'user-approval' : 'not-applicable'),
      maxRetries: 0,
      experimental_toolApprovalSecret: approvalSecret,
      ...(onError !== undefined && { onError }),
    });
  };
  return {
    version: 'agent-v1',
    id: agent.id,
    tools: createAiSdkTools({ agent, context }),
    generate: (call) => callLoop(async () => (await createLoop()).generate(call)),
    // What `generate` throws, its caller gets; of a stream, a page sees less.
    stream: (call) => callLoop(async () => (await createLoop(({ error }) => report(error, `agent "${agent.id}"`))).stream(call)),
  };
}

/** Makes an agent one of the AI SDK: for `createAgentUIStreamResponse` and whatever else takes a `ToolLoopAgent`. Needs `ai` 7. */
export function asAiSdkAgent<Given extends Tools, Output, Context>(
  agent: Agent<Given, Output, Context>,
  ...[options = {}]: OptionArgs<Context>
): AiAgent<never, AiSdkToolSet<Given>> {
  // Holds: the tools have the names and types of the agent's own, and the context is the one that it needs.
  return createAiSdkAgent(agent as unknown as Agent, options) as unknown as AiAgent<never, AiSdkToolSet<Given>>;
}
