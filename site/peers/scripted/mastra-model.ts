// A model of Mastra that answers from a script: one of the AI SDK.
import type { MastraModelConfig } from '@mastra/core/llm';
import type { Answer } from './answer.ts';
import { scriptedLanguageModel } from './language-model.ts';

/** Makes a model that gives one answer after the other. */
export const scriptedMastraModel = (answers: readonly Answer[]): MastraModelConfig =>
  // Holds: Mastra runs any model of this version; the declarations that it was built with are older.
  scriptedLanguageModel(answers) as unknown as MastraModelConfig;
