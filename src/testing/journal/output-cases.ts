// An answer with a schema, read again from the journal.
import { createAgent } from '../../agent/index.ts';
import { runDurably } from '../../journal/index.ts';
import { same } from '../conformance.ts';
import { scriptedModel } from '../scripted-model.ts';
import type { JournalCases } from './journal-stage.ts';

const createReporter = () =>
  createAgent({
    id: 'reporter',
    model: scriptedModel(['{"total":42,"name":"x"}'], { repeatLast: true }),
    output: { type: 'object', properties: { total: { type: 'number' }, name: { type: 'string' } }, required: ['total', 'name'] },
  });

export const outputCases: JournalCases = {
  'the output of an answer is parsed with its schema in every attempt': async (stage) => {
    const plan = { at: 'end', isRecorded: true } as const;
    const output = await stage.execute([plan], async (engine) => {
      const result = await runDurably(createReporter(), 'Report.', { engine, executionId: stage.id });
      return result.status === 'completed' ? JSON.stringify(result.output) : result.status;
    });
    same(output, '{"total":42,"name":"x"}', 'output');
    same(stage.attempts, 2, 'attempts');
  },
};
