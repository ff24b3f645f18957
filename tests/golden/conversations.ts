// The conversations between several whose stored forms are kept here. They come out the same every time.
import { ChatState, coordinator, createChat, humanParticipant, llmParticipant, scriptedParticipant } from '../../src/chat/index.ts';
import { CollaborationState, createCollaboration, humanCollaborator, llmCollaborator } from '../../src/collaboration/index.ts';
import { compaction } from '../../src/capabilities/index.ts';
import { defineTool, ErrorPolicy } from '../../src/entry/index.ts';
import type { ScriptedAnswer } from '../../src/testing/index.ts';
import { createCountingIds, createFakeClock, scriptedModel } from '../../src/testing/index.ts';

const stage = () => ({ clock: createFakeClock(Date.UTC(2026, 0, 1)), ids: createCountingIds(), random: () => 0.5 });
const usage = { input: 30, output: 12 };
const says = (text: string): ScriptedAnswer => ({ text, usage });
const calls = (name: string, args = {}): ScriptedAnswer => ({ toolCalls: [{ name, args }], usage });
const chooses = (participant: string): ScriptedAnswer => says(JSON.stringify({ participant, reason: `${participant} knows.` }));

const input = { type: 'object' } as const;
const look = defineTool({ name: 'look', description: 'Looks.', input, effect: 'pure', run: () => 'It stands.' });
const pull = defineTool({ name: 'pull', description: 'Pulls it down.', input, needsApproval: true, run: () => 'down' });

function panel() {
  const ports = stage();
  const chat = createChat({
    id: 'panel',
    version: '2',
    participants: [
      scriptedParticipant({ name: 'moderator', says: ['Does the bridge hold?', ''] }),
      llmParticipant({
        name: 'engineer',
        model: scriptedModel([
          { error: new Error('lost'), usage },
          { ...calls('look'), text: 'I look.' },
          says('It holds, and has held for a hundred years, in wind and water.'),
          calls('pull'),
          says('Still there.'),
        ]),
        tools: [look, pull],
        capabilities: [compaction({ model: scriptedModel([says('They talked of a bridge.')]), maxTokens: 12, maxBufferTokens: 12 })],
      }),
      humanParticipant({ name: 'anna', prompt: 'What do you say, Anna?' }),
    ],
    selector: coordinator({
      model: scriptedModel([chooses('moderator'), chooses('engineer'), chooses('nobody'), chooses('engineer'), chooses('anna')]),
    }),
    limits: { steps: 8, tokens: 5000, wallMs: 60_000 },
    errors: ErrorPolicy.retryAll(3).withBackoff({ baseMs: 0 }),
    ports,
  });
  const start = ChatState.empty({ ...ports, agentId: 'panel' }).withUserMessage('Talk about the bridge.', ports);
  return { ports, chat, start };
}

/** A chat with all there is: a failed turn, tools, a person, a choice that was none, a window, a second input, a call that waits. */
export async function chatUntilTheEnd(): Promise<{ readonly states: readonly ChatState[]; readonly waiting: ChatState }> {
  const { ports, chat, start } = panel();
  const states = [start];
  const last = (): ChatState => states.at(-1)!;
  const run = async (): Promise<void> => {
    await chat.run(last(), { commit: ({ state }) => void states.push(state) });
  };
  await run();
  states.push(last().answer('anna/4', 'I cross it every day.'));
  await run();
  states.push(last().withUserMessage('Pull it down.', ports));
  await run();
  const waiting = last();
  states.push(last().reject('engineer/call-2', 'no'));
  await run();
  return { states, waiting };
}

/** A collaboration: a draft from outside, writes, a handover, a form, a person who approves. */
export async function collaborationUntilTheEnd(): Promise<readonly CollaborationState[]> {
  const ports = stage();
  const collaboration = createCollaboration({
    collaborators: [
      llmCollaborator({
        name: 'writer',
        model: scriptedModel([
          calls('write_artifact', { artifact: 'plan', content: 'a lamp' }),
          calls('handoff', { to: 'anna', reason: 'Look at it.' }),
          says('First.'),
          calls('write_artifact', { artifact: 'plan', content: '{"title":"A lamp"}' }),
          says('Second.'),
        ]),
      }),
      humanCollaborator({ name: 'anna' }),
    ],
    done: {
      approvedBy: ['anna'],
      artifact: 'plan',
      schema: { type: 'object', properties: { title: { type: 'string' } }, required: ['title'] },
    },
    ports,
  });
  const empty = CollaborationState.empty({ ...ports, agentId: 'desk' });
  const states = [empty.withArtifact('notes', 'It is a lamp.', ports).withUserMessage('Plan the lamp.', ports)];
  const last = (): CollaborationState => states.at(-1)!;
  const run = async (): Promise<void> => {
    await collaboration.run(last(), { commit: ({ state }) => void states.push(state) });
  };
  await run();
  states.push(last().answer('anna/2', 'Make it JSON.'));
  await run();
  states.push(last().answer('anna/4', { text: 'Good.', approves: ['plan'] }));
  await run();
  return states;
}
