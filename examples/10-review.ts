// A writer, a critic and a fact-checker on one product description. It is done when the critic and the fact-checker have both
// approved the same version. All models play a script: no key is needed.
import assert from 'node:assert/strict';
import { defineTool } from 'stepline';
import { BoardTool, createCollaboration, llmCollaborator } from 'stepline/collaboration';
import type { ScriptedAnswer } from 'stepline/testing';
import { scriptedModel } from 'stepline/testing';

const print = (line = ''): void => {
  process.stdout.write(`${line}\n`);
};

const artifact = 'description';
const usage = { input: 90, output: 12 };
const says = (text: string): ScriptedAnswer => ({ text, usage });
const calls = (name: string, args: Readonly<Record<string, string>>): ScriptedAnswer => ({ toolCalls: [{ name, args }], usage });
// The tools of the board come with the collaboration.
const writes = (content: string) => calls(BoardTool.Write, { artifact, content });
const reads = calls(BoardTool.Read, { artifact });
const approves = (note: string) => calls(BoardTool.Approve, { artifact, note });

const sheet: Readonly<Record<string, string>> = { brightness: '470 lumens', weight: '310 grams', colours: 'blue, white' };
const lookUp = defineTool({
  name: 'look_up',
  description: 'Reads one line of the data sheet.',
  input: { type: 'object', properties: { line: { type: 'string' } }, required: ['line'] } as const,
  effect: 'pure',
  run: ({ line }) => sheet[line] ?? 'not on the sheet',
});

const writer = llmCollaborator({
  name: 'writer',
  instructions: 'You write product descriptions.',
  model: scriptedModel([
    writes('The best lamp in the world! It outshines the sun.'),
    says('A first version is on the board.'),
    reads,
    writes('A desk lamp with 470 lumens. It weighs 310 grams, and comes in blue and white.'),
    says('Now with facts, and without the sun.'),
  ]),
});
const critic = llmCollaborator({
  name: 'critic',
  instructions: 'You judge tone and length.',
  model: scriptedModel([
    reads,
    calls(BoardTool.Handoff, { to: 'writer', reason: 'Nobody believes this. Say what the lamp does.' }),
    says('Back to the writer.'),
    reads,
    approves('Short and sober.'),
    says('I have nothing more.'),
  ]),
});
const checker = llmCollaborator({
  name: 'checker',
  description: 'Compares with the data sheet.',
  tools: [lookUp],
  model: scriptedModel([
    reads,
    { toolCalls: ['brightness', 'weight', 'colours'].map((line) => ({ name: 'look_up', args: { line } })), usage },
    approves('All three facts are on the sheet.'),
    says('It is all true.'),
  ]),
});

const review = createCollaboration({
  collaborators: [writer, critic, checker],
  done: { artifact, approvedBy: ['critic', 'checker'] },
});

const run = review.start('Describe the desk lamp in two sentences.');
for await (const event of run) {
  if (event.type === 'ParticipantSelected') print(`${event.participant} (${event.reason ?? event.selectedBy})`);
  if (event.type === 'ToolCallCompleted' && event.tool === 'look_up') print(`  found ${JSON.stringify(event.result)}`);
  if (event.type === 'BoardUpdated') print(`  ${event.describe()}`);
  if (event.type === 'AgentStepCompleted' && event.orchestrator === 'collaboration') print();
}
const result = await run.result;
const { state, status } = result;
const { board } = state;

print('The board:');
for (const { name, versions } of board.artifacts)
  for (const { version, author, content } of versions) print(`  ${name}, version ${String(version)}, by ${author ?? 'nobody'}: ${content}`);
print('\nApproved:');
for (const { by, version, note } of state.approvals) print(`  version ${String(version)} by ${by}: ${note ?? ''}`);
print(`\n${result.explain()}`);

// It came as it was told above.
assert.equal(status, 'completed');
assert.deepEqual(
  state.steps.map(({ participant, selection }) => `${participant ?? ''} by ${selection?.by ?? ''}`),
  ['writer by round-robin', 'critic by round-robin', 'writer by handoff', 'critic by round-robin', 'checker by round-robin'],
);
assert.deepEqual(
  board.get(artifact)?.versions.map(({ version, author }) => [version, author]),
  [
    [1, 'writer'],
    [2, 'writer'],
  ],
);
assert.deepEqual(
  state.approvals.map(({ by, version }) => [by, version]),
  [
    ['critic', 2],
    ['checker', 2],
  ],
);
