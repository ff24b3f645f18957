import type { ModelSettings, OfferedTool } from '../../../src/inference/index.ts';
import type { ContentPart, FilePart, ImagePart, Part, ToolOutput } from '../../../src/messages/index.ts';
import { Message, textPart, toolCallPart } from '../../../src/messages/index.ts';
import type { Fields } from './loose.ts';
import { toFields, toJsonObject, toJson, toList, optionalText, toText } from './loose.ts';
import type { Wire, WireAnswer, WireCall } from './wire-conversation.ts';
import { readCount, readFile, readOutput, providerTool, readUsage } from './wire-conversation.ts';

// Both spellings are taken by the API, and both are sent.
function either(fields: Fields, camel: string, snake: string): unknown {
  return fields[camel] ?? fields[snake];
}

function filePart(part: Fields): FilePart | ImagePart | undefined {
  const inline = toFields(either(part, 'inlineData', 'inline_data'));
  const linked = toFields(either(part, 'fileData', 'file_data'));
  const type = toText(either(inline, 'mimeType', 'mime_type') ?? either(linked, 'mimeType', 'mime_type'));
  const url = optionalText(either(linked, 'fileUri', 'file_uri'));
  if (url !== undefined) return readFile(type, { url });
  // One alphabet for both: the recorded client wrote base64 in that of URLs.
  return inline['data'] === undefined
    ? undefined
    : readFile(type, { data: toText(inline['data']).replaceAll('-', '+').replaceAll('_', '/') });
}

function contentPart(part: Fields): ContentPart {
  return filePart(part) ?? textPart(toText(part['text']));
}

const wrappers = ['return_value', 'output', 'result', 'content'];
// What the AI SDK says in the place of words if there are only files.
const filler = 'Tool executed successfully.';

function valueOutput(value: unknown): ToolOutput {
  return typeof value === 'string' ? { type: 'text', value } : { type: 'json', value: toJson(value) };
}

// Clients wrap a result under a name of their own choice; what counts is what is inside.
function resultOutput(result: Fields): ToolOutput {
  const response = toFields(result['response']);
  if (response['error'] !== undefined)
    return { type: 'error', value: typeof response['error'] === 'string' ? response['error'] : JSON.stringify(response['error']) };
  const key = wrappers.find((name) => response[name] !== undefined);
  const files = toList(result['parts']).flatMap((part) => filePart(part) ?? []);
  if (files.length === 0) return key === undefined ? valueOutput(response) : valueOutput(response[key]);
  const text = key === undefined ? '' : toText(response[key]);
  return { type: 'content', parts: [...(text === '' || text === filler ? [] : [textPart(text)]), ...files] };
}

function readSignature(part: Fields): string | undefined {
  return optionalText(either(part, 'thoughtSignature', 'thought_signature'));
}

function modelPart(part: Fields): readonly Part[] {
  const signature = readSignature(part);
  const extras = signature === undefined ? {} : { providerMetadata: { google: { thoughtSignature: signature } } };
  const given = either(part, 'functionCall', 'function_call');
  const call = toFields(given);
  if (given !== undefined) {
    return [{ ...toolCallPart({ id: toText(call['id']), name: toText(call['name']), args: toJson(call['args'] ?? {}) }), ...extras }];
  }
  if (part['text'] === undefined) return [];
  return part['thought'] === true
    ? [{ type: 'reasoning', text: toText(part['text']), ...extras }]
    : [textPart(toText(part['text']), extras)];
}

function toMessages(content: Fields): readonly Message[] {
  const parts = toList(content['parts']);
  if (content['role'] === 'model') return [Message.assistant(parts.flatMap(modelPart))];
  const resultIn = (part: Fields): unknown => either(part, 'functionResponse', 'function_response');
  const results = parts.filter((part) => resultIn(part) !== undefined).map((part) => toFields(resultIn(part)));
  const rest = parts.filter((part) => resultIn(part) === undefined).map(contentPart);
  const answered = results.map((result) =>
    Message.tool({ toolCallId: toText(result['id']), toolName: toText(result['name']), output: resultOutput(result) }),
  );
  return rest.length === 0 ? answered : [...answered, Message.user(rest)];
}

// The schema's types were once written in capitals.
function lowerKeys(value: unknown, key = ''): unknown {
  if (Array.isArray(value)) return value.map((item) => lowerKeys(item));
  if (typeof value === 'object' && value !== null)
    return Object.fromEntries(Object.entries(value).map(([name, item]) => [name, lowerKeys(item, name)]));
  return key === 'type' && typeof value === 'string' ? value.toLowerCase() : value;
}

const snake = (name: string): string => name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);

function toTools(tool: Fields): readonly OfferedTool[] {
  return Object.entries(tool).flatMap(([key, value]): readonly OfferedTool[] => {
    if (snake(key) !== 'function_declarations') return [providerTool(`google.${snake(key)}`, snake(key), value)];
    return toList(value).map((declared) => ({
      name: toText(declared['name']),
      description: toText(declared['description']),
      inputSchema: toJsonObject(
        either(declared, 'parametersJsonSchema', 'parameters_json_schema') ??
          lowerKeys(declared['parameters'] ?? { type: 'object', properties: {} }),
      ),
    }));
  });
}

function readSettings(body: Fields): ModelSettings {
  const config = toFields(either(body, 'toolConfig', 'tool_config'));
  const calling = toFields(either(config, 'functionCallingConfig', 'function_calling_config'));
  const [{ mode }, allowed] = [calling, either(calling, 'allowedFunctionNames', 'allowed_function_names')];
  const [only] = Array.isArray(allowed) && allowed.length === 1 ? (allowed as readonly unknown[]) : [];
  if (mode === 'NONE') return { toolChoice: 'none' };
  if (mode !== 'ANY') return {};
  return { toolChoice: typeof only === 'string' ? { tool: only } : 'required' };
}

type Path = readonly (string | number)[];

// "$.a.b[0].c", as arguments are addressed if they come in pieces.
function parsePath(text: string): Path {
  return [...text.matchAll(/\.([^.[\]]+)|\[(\d+)\]|\['([^']+)'\]/g)].map(([, name, index, quoted]) => name ?? quoted ?? Number(index));
}

function setAt(target: unknown, [key, ...rest]: Path, change: (before: unknown) => unknown): unknown {
  if (key === undefined) return change(target);
  const before = (target ?? (typeof key === 'number' ? [] : {})) as Record<string | number, unknown>;
  before[key] = setAt(before[key], rest, change);
  return before;
}

function withPieces(args: unknown, pieces: readonly Fields[]): unknown {
  return pieces.reduce<unknown>((whole, piece) => {
    const { jsonPath, stringValue, numberValue, boolValue } = piece;
    return setAt(whole, parsePath(toText(jsonPath)), (before) =>
      typeof stringValue === 'string' ? toText(before) + stringValue : (numberValue ?? boolValue ?? ('nullValue' in piece ? null : before)),
    );
  }, args);
}

function callsIn(parts: readonly Fields[]): readonly WireCall[] {
  const calls: { id?: string; name: string; args: unknown; open: boolean }[] = [];
  for (const part of parts) {
    const given = either(part, 'functionCall', 'function_call');
    if (given === undefined) continue;
    const { id, name, args, partialArgs, willContinue } = toFields(given);
    const last = calls.at(-1);
    if (last?.open === true && name === undefined) {
      last.args = withPieces(last.args, toList(partialArgs));
      last.open = willContinue === true;
    } else {
      const whole = withPieces(args ?? {}, toList(partialArgs));
      calls.push({ ...(toText(id) !== '' && { id: toText(id) }), name: toText(name), args: whole, open: willContinue === true });
    }
  }
  return calls.map(({ open: _, ...call }) => call);
}

function readAnswer(body: Fields | readonly Fields[]): WireAnswer {
  const events: readonly Fields[] = Array.isArray(body) ? (body as readonly Fields[]) : [body as Fields];
  const candidates = events.flatMap((event) => toList(event['candidates']).slice(0, 1));
  const parts = candidates.flatMap((candidate) => toList(toFields(candidate['content'])['parts']));
  // A prompt that is blocked gets no candidate, only the reason.
  const hasEnded =
    candidates.some(({ finishReason }) => toText(finishReason) !== '') || events.some(({ promptFeedback }) => promptFeedback !== undefined);
  const usage = toFields(events.findLast((event) => event['usageMetadata'] !== undefined)?.['usageMetadata']);
  const [said, thought] = [readCount(usage['candidatesTokenCount']), readCount(usage['thoughtsTokenCount'])];
  // What a provider-run tool read for the model is part of what went in.
  const [asked, read] = [readCount(usage['promptTokenCount']), readCount(usage['toolUsePromptTokenCount'])];
  const input = asked === undefined ? undefined : asked + (read ?? 0);
  const output = said === undefined && thought === undefined ? undefined : (said ?? 0) + (thought ?? 0);
  return {
    text: parts.map((part) => (part['thought'] === true ? '' : toText(part['text']))).join(''),
    calls: callsIn(parts),
    ...readUsage({ input, output, cacheRead: usage['cachedContentTokenCount'], reasoning: thought }),
    signatures: parts.flatMap((part) => readSignature(part) ?? []),
    isBroken: !hasEnded || events.some((event) => event['error'] !== undefined),
  };
}

/** Google's generateContent. */
export const googleWire: Wire = {
  readConversation: (body) => {
    const system = toList(toFields(either(body, 'systemInstruction', 'system_instruction'))['parts']).map((part) =>
      Message.system(toText(part['text'])),
    );
    const config = toFields(either(body, 'generationConfig', 'generation_config'));
    return {
      messages: [...system, ...toList(body['contents']).flatMap(toMessages)],
      tools: toList(body['tools']).flatMap(toTools),
      settings: readSettings(body),
      ...readOutput(either(config, 'responseJsonSchema', 'response_json_schema') ?? either(config, 'responseSchema', 'response_schema')),
    };
  },
  readAnswer,
};
