export { compaction } from './compaction/compaction.ts';
export { estimateTokens } from './compaction/estimate-tokens.ts';
export type { CompactionOptions } from './compaction/options.ts';
export type { SelfCritiqueOptions } from './self-critique/self-critique.ts';
export { selfCritique } from './self-critique/self-critique.ts';
export type { SubAgent, SubAgentResult, SubAgentsOptions, SubAgentTools } from './sub-agents/sub-agents.ts';
export { subAgents } from './sub-agents/sub-agents.ts';
