export type { UseAgentResult } from './use-agent.ts';
export { useAgent } from './use-agent.ts';
