export type {
  CompactionOptions,
  SelfCritiqueOptions,
  SubAgent,
  SubAgentResult,
  SubAgentsOptions,
  SubAgentTools,
} from '../capabilities/index.ts';
export { compaction, estimateTokens, selfCritique, subAgents } from '../capabilities/index.ts';
