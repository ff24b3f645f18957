export type { AiSdkOptions } from '../inference/ai-sdk/index.ts';
export { aiSdk, aiSdkTools, UnsupportedModelError } from '../inference/ai-sdk/index.ts';
