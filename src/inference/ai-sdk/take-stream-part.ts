import { getText } from './fields.ts';
import { takeMetadata, takeStreamEnding, takeWarnings } from './take-ending.ts';
import type { PartSink, RawPart } from './take-part.ts';
import { getMetadata, takePart } from './take-part.ts';

/** Takes the pieces of a stream. */
export interface StreamSink extends PartSink {
  /** Called with an error that came as a part of the answer. */
  readonly fail: (error: unknown) => void;
}

type Take = (part: RawPart, sink: StreamSink) => void;

const getId = (part: RawPart): string => getText(part, 'id');

const takers: Readonly<Record<string, Take>> = {
  'text-start': (part, { builder }) => builder.text('', getId(part), getMetadata(part)),
  'text-delta': (part, { builder }) => builder.text(getText(part, 'delta'), getId(part), getMetadata(part)),
  'text-end': (part, { builder }) => builder.textEnd(getId(part), getMetadata(part)),
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
