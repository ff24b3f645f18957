import { anthropic } from '@ai-sdk/anthropic';
import { openai } from '@ai-sdk/openai';
import type { LanguageModelV2, LanguageModelV3, LanguageModelV4 } from '@ai-sdk/provider';
import type { ToolSet } from 'ai';
import { tool } from 'ai';
import { z } from 'zod';
import type { Model } from '../index.ts';
import type { AiSdkToolLike, LanguageModelLike } from './index.ts';
import { aiSdk, aiSdkTools } from './index.ts';

declare const v4: LanguageModelV4;
declare const v3: LanguageModelV3;
declare const v2: LanguageModelV2;

// The shape that is asked for is that of the real models.
v4 satisfies LanguageModelLike;
v3 satisfies LanguageModelLike;
aiSdk(v4) satisfies Model;
aiSdk(v3) satisfies Model;
aiSdk(openai('gpt-5'));
aiSdk(openai.chat('gpt-5'));
aiSdk(anthropic('claude-sonnet-4-5'));

// @ts-expect-error a model of an older interface is refused
aiSdk(v2);
// @ts-expect-error the id of a model is not a model
aiSdk('gpt-5');
// @ts-expect-error an image model is not a language model
aiSdk(openai.image('gpt-image-1'));

// The same holds for tools.
declare const tools: ToolSet;
tools satisfies Readonly<Record<string, AiSdkToolLike>>;
aiSdkTools(tools);
aiSdkTools({
  weather: tool({
    description: 'Tells the weather.',
    inputSchema: z.object({ city: z.string() }),
    execute: ({ city }) => `Sunny in ${city}`,
  }),
  ask: tool({ description: 'Asks the user.', inputSchema: z.object({ question: z.string() }) }),
  search: openai.tools.webSearch(),
});
