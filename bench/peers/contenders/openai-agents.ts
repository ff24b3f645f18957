// OpenAI Agents. Tracing is on, as by default, but its exporter sends nothing.
import type { Model, ModelRequest, ModelResponse, StreamEvent } from '@openai/agents';
import { Agent, BatchTraceProcessor, run, RunState, setTraceProcessors, tool, Usage } from '@openai/agents';
import type { Script, Subject } from '../contender.ts';
import { look, piece, question, readStep, takeText, toCallId, toolDescription, toolInput } from '../contender.ts';

type Output = ModelResponse['output'];

const createUsage = (): Usage => new Usage({ requests: 1, inputTokens: 100, outputTokens: 20, totalTokens: 120 });

function findStep({ input }: ModelRequest): number {
  const last = typeof input === 'string' ? undefined : input.at(-1);
  return readStep(last?.type === 'function_call_result' ? last.callId : undefined);
}

function answer({ steps, calls }: Script, step: number, text: string): Output {
  if (step >= steps) return [{ type: 'message', role: 'assistant', status: 'completed', content: [{ type: 'output_text', text }] }];
  return Array.from({ length: calls }, (_, index) => ({
    type: 'function_call',
    callId: toCallId(step, index),
    name: 'look',
    arguments: `{"id":${step}}`,
    status: 'completed',
  }));
}

function createModel(script: Script): Model {
  const text = piece.repeat(script.deltas);
  const takeRequest = (request: ModelRequest): Output => {
    script.tally.requests += 1;
    script.onRequest?.(request.input, request.tools);
    return answer(script, findStep(request), text);
  };
  async function* stream(request: ModelRequest): AsyncGenerator<StreamEvent> {
    const output = takeRequest(request);
    yield { type: 'response_started' };
    if (output[0]?.type === 'message')
      for (let index = 0; index < script.deltas; index += 1) yield { type: 'output_text_delta', delta: piece };
    const { inputTokens, outputTokens, totalTokens } = createUsage();
    // Holds: what was answered is an output of the protocol.
    yield { type: 'response_done', response: { id: 'bench', usage: { inputTokens, outputTokens, totalTokens }, output: output as never } };
  }
  return {
    getResponse: (request) => Promise.resolve({ usage: createUsage(), output: takeRequest(request) }),
    getStreamedResponse: stream,
  };
}

/** Sets up the agent. */
export function setUp(script: Script): Subject {
  setTraceProcessors([new BatchTraceProcessor({ export: () => Promise.resolve() })]);
  const agent = new Agent({
    name: 'bench',
    model: createModel(script),
    tools: [tool({ name: 'look', description: toolDescription, parameters: toolInput, execute: (input) => look(script.tally, input) })],
  });
  const count = (): void => {
    script.tally.notices += 1;
  };
  agent.on('agent_end', count);
  agent.on('agent_tool_end', count);
  const maxTurns = script.steps + 1;
  return {
    converse: async () => {
      if (!script.streams) return run(agent, question, { maxTurns });
      const result = await run(agent, question, { maxTurns, stream: true });
      // Reading the events costs less than `toTextStream()`.
      for await (const event of result)
        if (event.type === 'raw_model_stream_event' && event.data.type === 'output_text_delta') takeText(script, event.data.delta);
      await result.completed;
      return result;
    },
    // Holds: it is what `converse` returned.
    save: (kept) => Promise.resolve((kept as { readonly state: RunState<unknown, never> }).state.toString()),
    restore: (saved) => RunState.fromString(agent, String(saved)),
  };
}
