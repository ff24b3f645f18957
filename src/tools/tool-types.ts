import type { Json, Jsonify } from '../lib/index.ts';
import type { DescribedTool, FunctionTool, NestedTool, Tool } from './tool.ts';
import type { Tools } from './tool-set.ts';

type WrittenKeys<Given> = keyof { readonly [Key in keyof Given as string extends Key ? never : number extends Key ? never : Key]: unknown };
type AnyOf<Names> = [Names] extends [never] ? string : Names;

/** Names under which a model sees these tools, if their type lists them; otherwise any text. */
export type ToolName<Given extends Tools> = Given extends readonly Tool[] ? string : AnyOf<Extract<WrittenKeys<Given>, string>>;

type Named<Given extends Tools, Name extends string> = Given extends readonly Tool[]
  ? Given[number]
  : Name extends keyof Given
    ? Given[Name]
    : never;

/** Type of a tool's result once it is stored as JSON. */
export type ToolResultValue<Given extends Tools, Name extends string> =
  Named<Given, Name> extends DescribedTool<infer Result> & (FunctionTool | NestedTool) ? Jsonify<Result> : Json;
