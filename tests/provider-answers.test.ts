// Answers of real provider packages as they enter a step.
import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { ErrorPolicy } from '../src/errors/index.ts';
import { createCountingIds, createFakeClock } from '../src/lib/index.ts';
import { ToolUse, ToolUseState } from '../src/tool-use/index.ts';
import { defineTool } from '../src/tools/index.ts';
import type { ProviderPackage, StreamBody } from './support/recordings/provider-models.ts';
import { createProviderModel } from './support/recordings/provider-models.ts';
import { amazonBegin, chatBegin, toAmazonStream, toStream, xaiBegin } from './support/recordings/staged-streams.ts';

describe('the calls of an answer that broke off', () => {
  it.each<[ProviderPackage, StreamBody]>([
    ['deepseek', toStream(chatBegin)],
    ['xai', toStream(xaiBegin)],
    ['bedrock', toAmazonStream(amazonBegin)],
  ])('are not run: %s', async (name, body) => {
    const paid: unknown[] = [];
    const pay = defineTool({ name: 'pay', description: 'Pays.', input: z.object({ to: z.string() }), run: (args) => paid.push(args) });
    const ports = { clock: createFakeClock(), ids: createCountingIds() };
    const model = createProviderModel(name, body);
    const end = await new ToolUse({ model, tools: [pay], ports, errors: ErrorPolicy.stopOnAnyError() }).run(
      ToolUseState.empty(ports).withUserMessage('Pay Ann.', ports),
    );
    expect([end.status, paid]).toEqual(['failed', []]);
    expect(end.steps[0]).toMatchObject({ toolCalls: [], errors: [{ type: 'model', code: 'stream-interrupted', retryable: true }] });
  });
});
