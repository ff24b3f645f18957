// Which model the desk runs on: the one that the environment has a key for, or the offline script.
import { setTimeout } from 'node:timers/promises';
import type { Model } from 'stepline';
import { answer } from './script.ts';

const openAiModel = 'gpt-5-mini';
const anthropicModel = 'claude-sonnet-4-5';

/** Milliseconds between two words of the script, if somebody watches the terminal. */
export const terminalPaceMs = 22;

export interface Chosen {
  readonly model: Model;
  /** True if no model answers but the script. */
  readonly isScript: boolean;
}

/** Thrown for contradictory environment variables. */
export class ChoiceError extends Error {}

type Env = Readonly<Record<string, string | undefined>>;

/** The script as a model. `paceMs` is the time between two of its words. */
export async function offlineModel({ paceMs = 0 } = {}): Promise<Model> {
  const { scriptedModel } = await import('stepline/testing');
  const pace = paceMs > 0 ? async () => setTimeout(paceMs) : undefined;
  return scriptedModel([(request) => answer(request, pace)], { repeatLast: true, provider: 'offline', modelId: 'script' });
}

async function compatibleModel(baseURL: string, env: Env): Promise<Model> {
  const { STEPLINE_MODEL: modelId, STEPLINE_API_KEY: apiKey } = env;
  if (modelId === undefined || modelId === '') throw new ChoiceError('STEPLINE_BASE_URL is set; name the model in STEPLINE_MODEL too.');
  if (!URL.canParse(baseURL)) throw new ChoiceError(`STEPLINE_BASE_URL is no URL: ${baseURL}`);
  const [{ aiSdk }, { createOpenAICompatible }] = await Promise.all([import('stepline/ai-sdk'), import('@ai-sdk/openai-compatible')]);
  const provider = createOpenAICompatible({ name: 'compatible', baseURL, includeUsage: true, ...(isSet(apiKey) && { apiKey }) });
  return aiSdk(provider(modelId));
}

const isSet = (value: string | undefined): value is string => value !== undefined && value !== '';

async function modelFrom(env: Env): Promise<Model | undefined> {
  const { STEPLINE_BASE_URL: baseURL, STEPLINE_MODEL: named, OPENAI_API_KEY: openAiKey, ANTHROPIC_API_KEY: anthropicKey } = env;
  if (isSet(baseURL)) return compatibleModel(baseURL, env);
  if (isSet(openAiKey)) {
    const [{ aiSdk }, { openai }] = await Promise.all([import('stepline/ai-sdk'), import('@ai-sdk/openai')]);
    return aiSdk(openai(isSet(named) ? named : openAiModel));
  }
  if (isSet(anthropicKey)) {
    const [{ aiSdk }, { anthropic }] = await Promise.all([import('stepline/ai-sdk'), import('@ai-sdk/anthropic')]);
    return aiSdk(anthropic(isSet(named) ? named : anthropicModel));
  }
  return undefined;
}

/** Chooses the model. `paceMs` is the time between two words of the script. */
export async function chooseModel(env: Env, { offline, paceMs }: { readonly offline: boolean; readonly paceMs: number }): Promise<Chosen> {
  const model = offline ? undefined : await modelFrom(env);
  return model === undefined ? { model: await offlineModel({ paceMs }), isScript: true } : { model, isScript: false };
}
