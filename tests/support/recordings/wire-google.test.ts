import { describe, expect, it } from 'vitest';
import { googleWire } from './wire-google.ts';

const camel = {
  systemInstruction: { parts: [{ text: 'Be brief.' }] },
  contents: [
    { role: 'user', parts: [{ text: 'Go' }] },
    { role: 'model', parts: [{ functionCall: { id: 'a', name: 'look', args: { at: 1 } }, thoughtSignature: 's' }] },
    { role: 'user', parts: [{ functionResponse: { id: 'a', name: 'look', response: { result: 'seen' } } }] },
  ],
  tools: [{ functionDeclarations: [{ name: 'look', description: 'Looks.', parametersJsonSchema: { type: 'object' } }] }],
  toolConfig: { functionCallingConfig: { mode: 'ANY', allowedFunctionNames: ['look'] } },
  generationConfig: { responseJsonSchema: { type: 'object' } },
};

const snake = {
  system_instruction: { parts: [{ text: 'Be brief.' }] },
  contents: [
    { role: 'user', parts: [{ text: 'Go' }] },
    { role: 'model', parts: [{ function_call: { id: 'a', name: 'look', args: { at: 1 } }, thought_signature: 's' }] },
    { role: 'user', parts: [{ function_response: { id: 'a', name: 'look', response: { result: 'seen' } } }] },
  ],
  tools: [{ function_declarations: [{ name: 'look', description: 'Looks.', parameters_json_schema: { type: 'object' } }] }],
  tool_config: { function_calling_config: { mode: 'ANY', allowed_function_names: ['look'] } },
  generation_config: { response_json_schema: { type: 'object' } },
};

describe('googleWire', () => {
  it.each([
    ['camel case', camel],
    ['snake case', snake],
  ])('reads a conversation in %s', (_, body) => {
    const { messages, tools, settings, output } = googleWire.readConversation(body);
    expect(messages.map(({ role }) => role)).toEqual(['system', 'user', 'assistant', 'tool']);
    expect(messages[2]?.parts).toEqual([
      { type: 'tool-call', toolCallId: 'a', toolName: 'look', args: { at: 1 }, providerMetadata: { google: { thoughtSignature: 's' } } },
    ]);
    expect(messages[3]?.toolResults).toMatchObject([{ toolCallId: 'a', toolName: 'look', output: { type: 'text', value: 'seen' } }]);
    expect(tools).toEqual([{ name: 'look', description: 'Looks.', inputSchema: { type: 'object' } }]);
    expect(settings).toEqual({ toolChoice: { tool: 'look' } });
    expect(output).toEqual({ schema: { type: 'object' } });
  });

  it.each(['functionCall', 'function_call'])('reads a call of an answer under %s', (key) => {
    const candidates = [{ content: { parts: [{ [key]: { name: 'look', args: { at: 1 } } }] }, finishReason: 'STOP' }];
    expect(googleWire.readAnswer({ candidates })).toMatchObject({ calls: [{ name: 'look', args: { at: 1 } }], isBroken: false });
  });
});
