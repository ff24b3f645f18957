export type { SubAgent, SubAgentResult, SubAgentsOptions, SubAgentTools } from './sub-agents/sub-agents.ts';
export { subAgents } from './sub-agents/sub-agents.ts';
