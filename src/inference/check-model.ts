import { describeValue, InvalidArgumentError, isRecord } from '../lib/index.ts';

const modelAdvice = 'Pass aiSdk(openai("gpt-5")), for example, with aiSdk from "stepline/ai-sdk" and openai from "@ai-sdk/openai".';

const hasMethod = (value: unknown, name: string): boolean => isRecord(value) && typeof value[name] === 'function';
const isModel = (value: unknown): boolean => hasMethod(value, 'generate') && hasMethod(value, 'stream');

function describeModelProblem(model: unknown, option: string): string {
  if (model === undefined && option === 'model') return ` needs a model. ${modelAdvice}`;
  if (hasMethod(model, 'doGenerate')) return `: ${option} is a model of the AI SDK. Wrap it with aiSdk() from "stepline/ai-sdk".`;
  return `: ${option} must be a model object, not ${describeValue(model)}. ${modelAdvice}`;
}

/** Throws if a value is not a model. */
export function checkModel(maker: string, model: unknown, option = 'model'): void {
  if (!isModel(model)) throw new InvalidArgumentError(`${maker}${describeModelProblem(model, option)}`);
}
