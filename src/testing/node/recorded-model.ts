import { isRecord } from '../../lib/index.ts';
import type { Model } from '../../inference/index.ts';
import type { ReceivedRequest } from './loopback-server.ts';
import { connectModel } from './provider-package.ts';
import type { Recording } from './recording.ts';
import { readRecording } from './recording.ts';
import { startReplayServer } from './replay-server.ts';
import { eventsIn, wireApiOf } from './wire-api.ts';

/** What a recorded model needs beside its recording. */
export interface RecordedModelOptions {
  /** Makes a model of the AI SDK one of ours: `aiSdk` from `stepline/ai-sdk`. */
  adapt(model: object): Model;
}

/** A model that answers from a recording, through the real package of its provider. Close it when you are done. */
export interface RecordedModel extends Model {
  /** What was really sent, in the provider's own form. */
  readonly requests: readonly ReceivedRequest[];
  /** How many answers are left. */
  readonly remaining: number;
  close(): Promise<void>;
}

function modelIn(value: unknown): string | undefined {
  if (!isRecord(value)) return undefined;
  const { model, modelVersion, response, message } = value;
  if (typeof model === 'string' && model !== '') return model;
  if (typeof modelVersion === 'string') return modelVersion;
  return modelIn(response) ?? modelIn(message);
}

/** The id of the model that was asked: in the request or its path, else in the answer. */
export function modelIdOf({ interactions }: Recording): string {
  for (const { request, response } of interactions) {
    const inPath = /\/models\/([^/:]+):/.exec(request?.path ?? '')?.[1];
    const samples = typeof response.body === 'string' ? eventsIn(response.body).slice(0, 3) : [response.body];
    const found = modelIn(request?.body) ?? inPath ?? samples.map(modelIn).find((id) => id !== undefined);
    if (found !== undefined) return found;
  }
  return 'recorded-model';
}

/** Makes a model of a recording, or of the file that holds it. Its answers come in the order in which they were recorded. */
export async function recordedModel(recording: string | Recording, options: RecordedModelOptions): Promise<RecordedModel> {
  const read = typeof recording === 'string' ? readRecording(recording) : recording;
  const server = await startReplayServer(read.interactions.map(({ response }) => response));
  const connected = await connectModel({ provider: read.provider, api: wireApiOf(read), modelId: modelIdOf(read), baseURL: server.url });
  const model = options.adapt(connected);
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
