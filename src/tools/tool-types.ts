import type { Json, Jsonify } from '../lib/index.ts';
import type { FunctionTool, NestedTool, Tool } from './tool.ts';
import type { FinalResult } from './tool-options.ts';
import type { Tools } from './tool-set.ts';

type WrittenKeys<Given> = keyof { readonly [Key in keyof Given as string extends Key ? never : number extends Key ? never : Key]: unknown };
type AnyOf<Names> = [Names] extends [never] ? string : Names;

/** The names under which a model sees these tools, as far as they are written down; any text where none is. */
export type ToolName<Given extends Tools> = Given extends readonly Tool[] ? string : AnyOf<Extract<WrittenKeys<Given>, string>>;

type Named<Given extends Tools, Name extends string> = Given extends readonly Tool[]
  ? Given[number]
  : Name extends keyof Given
    ? Given[Name]
    : never;

/** What a tool's result is once it is stored: what `run` hands back, as JSON. */
export type ToolResultValue<Given extends Tools, Name extends string> =
  Named<Given, Name> extends FunctionTool<never, infer Returned>
    ? Jsonify<FinalResult<Returned>>
    : Named<Given, Name> extends NestedTool<never, infer Returned>
      ? Jsonify<Returned>
      : Json;
