export type { UseAgentResult } from '../ui/react/index.ts';
export { useAgent } from '../ui/react/index.ts';
