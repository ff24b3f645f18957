// Stepline, driven in every way that users have: each way is a contender of its own.
import type { Agent, AgentEvent, Model } from 'stepline';
import { AgentState, createAgent, defineTool } from 'stepline';
import { aiSdk } from 'stepline/ai-sdk';
import { compaction } from 'stepline/capabilities';
import type { Script, SetUp, Subject } from '../contender.ts';
import { look, question, takeText, toolDescription, toolInput } from '../contender.ts';
import { createLanguageModel } from '../language-model.ts';
import { createOwnModel, createSummarizer } from '../own-model.ts';

/** So high that the script ends the conversation. */
const limits = { steps: 1_000_000, tokens: 1_000_000_000 };

/** So small that even a conversation of 100 steps gets a buffer and summaries. */
const smallWindow = 600;

interface Way {
  readonly createModel: (script: Script) => Model;
  readonly isCompacted?: boolean;
  readonly drive: (agent: BenchAgent, script: Script) => Promise<AgentState>;
}
type BenchAgent = Pick<Agent, 'run' | 'start' | 'nextStep' | 'hasNextStep' | 'wiretap' | 'restore'>;

function createBenchAgent(script: Script, { createModel, isCompacted = false }: Way): BenchAgent {
  const tool = defineTool({
    name: 'look',
    description: toolDescription,
    input: toolInput,
    run: (args) => look(script.tally, args),
  });
  return createAgent({
    model: createModel(script),
    tools: { look: tool },
    limits,
    streaming: script.streams,
    capabilities: isCompacted ? [compaction({ model: createSummarizer(), contextWindow: smallWindow })] : [],
  });
}

const begin = (): AgentState => AgentState.empty().withUserMessage(question);

/** Makes the one listener read the text, as a server does that forwards it. */
function listen(agent: BenchAgent, script: Script, readsText: boolean): void {
  agent.wiretap((event: AgentEvent) => {
    script.tally.notices += 1;
    if (readsText && event.type === 'TextDelta') takeText(script, event.text);
  });
}

const overAiSdk = (script: Script): Model => aiSdk(createLanguageModel(script));

const ways = {
  own: { createModel: createOwnModel, drive: (agent) => agent.run(begin()) },
  run: { createModel: overAiSdk, drive: (agent) => agent.run(begin()) },
  start: {
    createModel: overAiSdk,
    drive: async (agent, script) => {
      const run = agent.start(begin());
      if (script.streams) for await (const event of run) if (event.type === 'TextDelta') takeText(script, event.text);
      return (await run.result).state;
    },
  },
  compacted: { createModel: overAiSdk, isCompacted: true, drive: (agent) => agent.run(begin()) },
  nextStep: {
    createModel: overAiSdk,
    drive: async (agent) => {
      let state = begin();
      while (agent.hasNextStep(state)) state = await agent.nextStep(state);
      return state;
    },
  },
} satisfies Record<string, Way>;

function setUpWay(script: Script, name: keyof typeof ways): Subject {
  const way: Way = ways[name];
  const agent = createBenchAgent(script, way);
  listen(agent, script, name !== 'start');
  return {
    converse: () => way.drive(agent, script),
    // Holds: it is what `converse` returned.
    save: (kept) => Promise.resolve(AgentState.codec.stringify(kept as AgentState)),
    restore: (saved) => Promise.resolve(agent.restore(JSON.parse(String(saved)))),
  };
}

/** Finds the way with a name. */
export const createSetUp =
  (name: keyof typeof ways): SetUp =>
  (script) =>
    setUpWay(script, name);
