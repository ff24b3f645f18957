import type { HookApplied, HookReported, ToolCallBlocked } from '../hooks/index.ts';
import type { LoopEvent } from '../step-by-step/index.ts';
import type { ToolName, ToolResultValue, Tools } from '../tools/index.ts';
import type {
  InferenceStarted,
  ModelFallback,
  ReasoningDelta,
  TextDelta,
  ToolApprovalRequested,
  ToolCallCompleted,
  ToolCallProgress,
  ToolCallStarted,
} from './tool-use-events.ts';

type Ended<Name extends string, Result> = ToolCallCompleted<Name, Result> &
  (
    | { readonly success: true; readonly result: Result; readonly error?: undefined }
    | { readonly success: false; readonly result?: undefined; readonly error: string }
  );

type EventsOfTool<Given extends Tools, Name extends string> = Name extends string
  ? ToolCallStarted<Name> | ToolCallProgress<Name> | ToolApprovalRequested<Name> | Ended<Name, ToolResultValue<Given, Name>>
  : never;

/** Every event of a conversation with these tools. The tool's name narrows what a call came to. */
export type ToolEvent<Given extends Tools = Tools> =
  | LoopEvent
  | InferenceStarted
  | TextDelta
  | ReasoningDelta
  | ModelFallback
  | HookApplied
  | HookReported
  | ToolCallBlocked
  | EventsOfTool<Given, ToolName<Given>>;
