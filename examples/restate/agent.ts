// The agent of the example: looks up partners, and asks before it writes to one.
import type { Agent } from 'stepline';
import { createAgent, defineTool } from 'stepline';
import { scriptedModel } from 'stepline/testing';

const name = { type: 'object', properties: { name: { type: 'string' } }, required: ['name'] } as const;

const lookUp = defineTool({
  name: 'look_up',
  description: 'Looks up a partner.',
  input: name,
  effect: 'pure',
  run: ({ name: partner }) => ({ partner, city: partner.length % 2 === 0 ? 'Berlin' : 'Lisbon' }),
});

const write = defineTool({
  name: 'write_letter',
  description: 'Writes a letter to a partner.',
  input: name,
  effect: 'once',
  needsApproval: true,
  run: ({ name: partner }) => `The letter to ${partner} is in the post.`,
});

const calls = ['Acme', 'Globex', 'Initech'].map((partner, index) => ({ name: 'look_up', id: `look-${index}`, args: { name: partner } }));

/** Looks up three partners and asks to write to one of them, in one step; then answers. A script instead of a model, so it needs no key. */
const model = scriptedModel(
  [
    ({ messages }) => {
      const isAnswered = messages.findLastIndex((each) => !each.isUser()) > messages.findLastIndex((each) => each.isUser());
      if (isAnswered)
        return { chunks: ['Three partners ', 'were looked up. ', 'The letter is taken care of.'], usage: { input: 40, output: 12 } };
      const turn = messages.length;
      const letter = { name: 'write_letter', id: `letter-${turn}`, args: { name: 'Acme' } };
      return {
        text: 'I will look them up, and I would like to write to Acme.',
        toolCalls: [...calls.map((call) => ({ ...call, id: `${call.id}-${turn}` })), letter],
        usage: { input: 20, output: 10 },
      };
    },
  ],
  { repeatLast: true },
);

export const createDesk = (): Agent => createAgent({ id: 'desk', model, tools: [lookUp, write] });
