export type { AiSdkOptions } from './ai-sdk.ts';
export { aiSdk } from './ai-sdk.ts';
export type { AiSdkToolLike } from './ai-sdk-tools.ts';
export { aiSdkTools } from './ai-sdk-tools.ts';
export type { LanguageModelLike } from './language-model-like.ts';
export { UnsupportedModelError } from './unsupported-model-error.ts';
