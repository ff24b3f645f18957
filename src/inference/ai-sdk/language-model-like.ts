import { describeValue, isRecord } from '../../lib/index.ts';
import { UnsupportedModelError } from './unsupported-model-error.ts';

/** The versions of the AI SDK's model interface that are understood. */
export type SpecificationVersion = 'v3' | 'v4';

/** The shape of an AI SDK language model, as `openai('gpt-5')` and its kin return it. */
export interface LanguageModelLike {
  readonly specificationVersion: SpecificationVersion;
  readonly provider: string;
  readonly modelId: string;
  doGenerate(options: never): PromiseLike<object>;
  doStream(options: never): PromiseLike<{ readonly stream: object }>;
}

/** The same model as we call it: what goes in is built here, what comes out is read with care. */
export interface CallableModel {
  readonly specificationVersion: SpecificationVersion;
  readonly provider: string;
  readonly modelId: string;
  doGenerate(options: CallOptions): PromiseLike<unknown>;
  doStream(options: CallOptions): PromiseLike<unknown>;
}

/** Options of one call in the AI SDK's own words; their form differs a little between versions. */
export type CallOptions = Readonly<Record<string, unknown>>;

const versions: readonly unknown[] = ['v3', 'v4'];

function findProblem(model: unknown): string | undefined {
  if (typeof model === 'string') return `"${model}" is a model id. Pass a model object, such as openai("${model}") from "@ai-sdk/openai"`;
  if (!isRecord(model)) return `got ${describeValue(model)}. Pass a model object, such as openai("gpt-5") from "@ai-sdk/openai"`;
  const { specificationVersion, doGenerate, doStream } = model;
  if (!versions.includes(specificationVersion)) {
    const found = typeof specificationVersion === 'string' ? `"${specificationVersion}"` : 'missing';
    return `its specificationVersion is ${found}, and aiSdk() supports "v3" and "v4". Update the provider package`;
  }
  if (typeof doGenerate !== 'function' || typeof doStream !== 'function')
    return 'it has no doGenerate() or doStream(). Pass a language model of the AI SDK';
  return undefined;
}

/** Checks what was passed as a model; anything that cannot be called is refused with the reason. */
export function toCallableModel(model: LanguageModelLike): CallableModel {
  const problem = findProblem(model);
  if (problem !== undefined) throw new UnsupportedModelError(problem);
  // Holds: the options that we build are those of the version that the model speaks; `never` only keeps its types out of ours.
  return model;
}
