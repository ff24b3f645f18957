// Events of one step as parts of a model's answer, in the words of the AI SDK.
import type { LanguageModelV4StreamPart } from '@ai-sdk/provider';
import type { EventFields } from '../event-fields.ts';
import { getJson, getName } from '../event-fields.ts';

type StreamPart = LanguageModelV4StreamPart;
type Kind = 'text' | 'reasoning';

export class PartWriter {
  readonly #called = new Set<string>();
  #open: { readonly kind: Kind; readonly id: string } | undefined;
  #count = 0;

  /** True if the step has calls that the AI SDK follows. */
  hasCalls = false;

  /** Returns the parts of an event. */
  *take(event: EventFields): Generator<StreamPart, void, undefined> {
    switch (event['type']) {
      case 'TextDelta':
        yield* this.#say('text', getName(event, 'text'));
        return;
      case 'ReasoningDelta':
        yield* this.#say('reasoning', getName(event, 'text'));
        return;
      // Another answer begins.
      case 'ModelFallback':
      case 'AgentStepStarted':
        yield* this.close();
        return;
      case 'ToolCallStarted':
      case 'ToolApprovalRequested':
      case 'ToolCallBlocked':
        yield* this.#call(event);
        return;
      case 'ToolCallCompleted':
        yield* this.#refuse(event);
        return;
      default:
    }
  }

  /** Closes the open part. */
  *close(): Generator<StreamPart, void, undefined> {
    const open = this.#open;
    this.#open = undefined;
    if (open !== undefined) yield { type: `${open.kind}-end`, id: open.id };
  }

  *#say(kind: Kind, delta: string): Generator<StreamPart, void, undefined> {
    if (this.#open?.kind !== kind) {
      yield* this.close();
      this.#open = { kind, id: String((this.#count += 1)) };
      yield { type: `${kind}-start`, id: this.#open.id };
    }
    yield { type: `${kind}-delta`, id: this.#open.id, delta };
  }

  *#call(event: EventFields): Generator<StreamPart, void, undefined> {
    const toolCallId = getName(event, 'toolCallId');
    if (this.#called.has(toolCallId)) return;
    this.#called.add(toolCallId);
    this.hasCalls = true;
    yield* this.close();
    yield { type: 'tool-call', toolCallId, toolName: getName(event, 'tool'), input: JSON.stringify(getJson(event, 'args')) };
  }

  /** Shows a call that never started, such as one of a tool that does not exist, with the reason. */
  *#refuse(event: EventFields): Generator<StreamPart, void, undefined> {
    const toolCallId = getName(event, 'toolCallId');
    if (this.#called.has(toolCallId)) return;
    this.#called.add(toolCallId);
    const names = { toolCallId, toolName: getName(event, 'tool'), dynamic: true };
    yield* this.close();
    yield { type: 'tool-call', ...names, providerExecuted: true, input: '{}' };
    yield { type: 'tool-result', ...names, isError: true, result: getName(event, 'error') || 'The call failed.' };
  }
}
