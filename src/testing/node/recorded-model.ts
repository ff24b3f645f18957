import { isRecord } from '../../lib/index.ts';
import type { Model } from '../../inference/index.ts';
import type { ReceivedRequest } from './loopback-server.ts';
import { connectModel } from './provider-package.ts';
import type { Interaction, Recording } from './recording.ts';
import { readRecording } from './recording.ts';
import { startReplayServer } from './replay-server.ts';
import { findInAnswer, detectWireApi } from './wire-api.ts';

/** Settings of a recorded model. */
export interface RecordedModelOptions {
  /** Makes a model of the AI SDK one of ours: `aiSdk` from `stepline/ai-sdk`. */
  adapt(model: object): Model;
}

/** A model that answers from a recording, through the real package of its provider. Close it when you are done. */
export interface RecordedModel extends Model {
  /** The requests that were really sent, in the provider's own form. */
  readonly requests: readonly ReceivedRequest[];
  /** Number of answers that are left. */
  readonly remaining: number;
  close(): Promise<void>;
}

function findModel(value: unknown): string | undefined {
  if (!isRecord(value)) return undefined;
  const { model, modelVersion, response, message } = value;
  if (typeof model === 'string' && model !== '') return model;
  return typeof modelVersion === 'string' ? modelVersion : (findModel(response) ?? findModel(message));
}

/** Returns the id of the model that was asked: from the request or its path, else from the answer. */
function findModelId({ request, response }: Interaction): string | undefined {
  const [, inPath] = /\/models\/([^/:]+):/.exec(request?.path ?? '') ?? [];
  return findModel(request?.body) ?? inPath ?? findInAnswer(response, findModel);
}

/** Makes a model of a recording, or of the file that holds it. Its answers come in the order in which they were recorded. */
export async function recordedModel(recording: string | Recording, options: RecordedModelOptions): Promise<RecordedModel> {
  const read = typeof recording === 'string' ? readRecording(recording) : recording;
  const { provider, interactions } = read;
  const server = await startReplayServer(interactions.map(({ response }) => response));
  const modelId = interactions.map(findModelId).find((id) => id !== undefined) ?? 'recorded-model';
  const model = options.adapt(await connectModel({ provider, api: detectWireApi(read), modelId, baseURL: server.url }));
  return {
    ...model,
    get requests() {
      return server.requests;
    },
    get remaining() {
      return server.remaining;
    },
    close: () => server.close(),
  };
}
