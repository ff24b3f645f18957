// Tool inputs of a stream
// Owns:     telling the arguments of the client's calls, on their way, from those of tools that the provider runs.
// Does not: put calls together; the response builder does.
// I1. What began as the provider's own never becomes a call of the client, whether its call comes or not.
// I2. Pieces that come after their call make no other call.
import type { ModelDelta, ResponseBuilder } from '../index.ts';
import { getText } from './fields.ts';
import type { RawPart } from './take-part.ts';

/** Takes the pieces of arguments as a stream tells them. */
export interface StreamToolInputs {
  start(part: RawPart): void;
  delta(part: RawPart): void;
  end(part: RawPart): void;
  /** The call that has come, with what its pieces told of it. */
  called(part: RawPart): RawPart;
}

interface Input {
  readonly isProviders: boolean;
  readonly name: string;
  text: string;
}

/** Keeps the arguments of one stream apart. Those of the provider's own tools go to onDelta alone. */
export function createStreamToolInputs(builder: ResponseBuilder, onDelta?: (delta: ModelDelta) => void): StreamToolInputs {
  const open = new Map<string, Input[]>();
  const called = new Set<string>();
  const getId = (part: RawPart): string => getText(part, 'id');
  const newest = (id: string): Input | undefined => open.get(id)?.at(-1);
  const isLate = (id: string): boolean => called.has(id) && newest(id) === undefined;

  function tell(toolCallId: string, { name }: Input, text: string): void {
    builder.alive();
    if (toolCallId !== '') onDelta?.({ type: 'tool-input', toolCallId, toolName: name, text });
  }

  return {
    start: (part) => {
      const [id, name] = [getId(part), getText(part, 'toolName')];
      const input: Input = { isProviders: part['providerExecuted'] === true, name, text: '' };
      open.set(id, [...(open.get(id) ?? []), input]);
      if (input.isProviders) tell(id, input, '');
      else builder.toolInputStart(id, name);
    },
    delta: (part) => {
      const [id, piece] = [getId(part), getText(part, 'delta')];
      const input = newest(id);
      if (input?.isProviders === true) {
        input.text += piece;
        tell(id, input, piece);
      } else if (isLate(id)) builder.alive();
      else builder.toolInputDelta(id, piece);
    },
    end: (part) => {
      const id = getId(part);
      if (newest(id)?.isProviders === true || isLate(id)) builder.alive();
      else builder.toolInputEnd(id);
    },
    called: (part) => {
      const id = getText(part, 'toolCallId');
      called.add(id);
      const input = open.get(id)?.shift();
      if (input?.isProviders !== true) return part;
      const { input: given } = part;
      return { ...part, providerExecuted: true, input: given === undefined || given === '' ? input.text : given };
    },
  };
}
