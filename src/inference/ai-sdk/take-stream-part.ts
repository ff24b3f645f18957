import { getText } from './fields.ts';
import { takeMetadata, takeStreamEnding, takeWarnings } from './take-ending.ts';
import type { PartSink, RawPart } from './take-part.ts';
import { getMetadata, isSummary, takeOpaque, takePart } from './take-part.ts';

/** Takes the pieces of a stream. */
export interface StreamSink extends PartSink {
  /** Called with an error that came as a part of the answer. */
  readonly fail: (error: unknown) => void;
  /** Summaries that have begun, by the id of their text. */
  readonly summaries: Map<string, RawPart>;
}

type Take = (part: RawPart, sink: StreamSink) => void;

const getId = (part: RawPart): string => getText(part, 'id');

function startText(part: RawPart, { builder, summaries }: StreamSink): void {
  const [id, providerMetadata] = [getId(part), getMetadata(part)];
  if (!isSummary(part)) {
    builder.text('', id, providerMetadata);
    return;
  }
  builder.alive();
  summaries.set(id, { type: 'text', text: '', providerMetadata });
}

function takeTextDelta(part: RawPart, { builder, summaries }: StreamSink): void {
  const summary = summaries.size === 0 ? undefined : summaries.get(getId(part));
  if (summary === undefined) {
    builder.text(getText(part, 'delta'), getId(part), getMetadata(part));
    return;
  }
  builder.alive();
  summaries.set(getId(part), { ...summary, text: getText(summary, 'text') + getText(part, 'delta') });
}

function endText(part: RawPart, sink: StreamSink): void {
  const summary = sink.summaries.get(getId(part));
  if (summary === undefined) sink.builder.textEnd(getId(part), getMetadata(part));
  else takeOpaque(summary, sink);
  sink.summaries.delete(getId(part));
}

const takers: Readonly<Record<string, Take>> = {
  'text-start': startText,
  'text-delta': takeTextDelta,
  'text-end': endText,
  'reasoning-start': (part, { builder }) => builder.reasoning('', getId(part), getMetadata(part)),
  'reasoning-delta': (part, { builder }) => builder.reasoning(getText(part, 'delta'), getId(part), getMetadata(part)),
  'reasoning-end': (part, { builder }) => builder.reasoningEnd(getId(part), getMetadata(part)),
  'tool-input-start': (part, { builder }) =>
    builder.toolInputStart(getId(part), getText(part, 'toolName'), { providerExecuted: part['providerExecuted'] === true }),
  'tool-input-delta': (part, { builder }) => builder.toolInputDelta(getId(part), getText(part, 'delta')),
  'tool-input-end': (part, { builder }) => builder.toolInputEnd(getId(part)),
  'stream-start': (part, { builder }) => takeWarnings(part['warnings'], builder),
  'response-metadata': (part, { builder }) => takeMetadata(part, builder),
  finish: (part, { builder }) => takeStreamEnding(part, builder),
  error: (part, { fail }) => fail(part['error']),
  raw: (_, { builder }) => builder.alive(),
  ping: (_, { builder }) => builder.alive(),
};

/** Takes one piece of an answer that comes in pieces. */
export function takeStreamPart(part: RawPart, sink: StreamSink): void {
  const take = Object.hasOwn(takers, part.type) ? takers[part.type] : undefined;
  (take ?? takePart)(part, sink);
}
