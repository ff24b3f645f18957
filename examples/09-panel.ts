// A panel, live in the terminal: a moderator, two experts, and a coordinator who gives the turn if nobody was mentioned.
// All models play a script: no key is needed.
import assert from 'node:assert/strict';
import { ContinuationDecision, when } from 'stepline';
import type { ChatState } from 'stepline/chat';
import { byMention, coordinator, createChat, llmParticipant, scriptedParticipant } from 'stepline/chat';
import { scriptedModel } from 'stepline/testing';

const print = (text: string): void => {
  process.stdout.write(text);
};

// A model speaks in pieces: here, word by word.
const says = (words: string) => ({ chunks: words.split(/(?<= )/), usage: { input: 120, output: 20 } });
const gives = (participant: string, reason: string) => ({
  text: JSON.stringify({ participant, reason }),
  usage: { input: 150, output: 15 },
});

const moderator = scriptedParticipant({
  name: 'moderator',
  description: 'Asks the questions; has the turn when one is answered.',
  says: ['@engineer, can the camera tell a child from an adult?', '@lawyer, is blurring enough?', ''],
});
const engineer = llmParticipant({
  name: 'engineer',
  description: 'Knows what can be built.',
  instructions: 'You build door cameras. Be brief.',
  model: scriptedModel([
    says('It can, if it may keep pictures to learn from. May it, @lawyer?'),
    says('Then it blurs faces before it keeps one.'),
  ]),
});
const lawyer = llmParticipant({
  name: 'lawyer',
  description: 'Knows what is allowed.',
  instructions: 'You know the law on pictures of children. Be brief.',
  model: scriptedModel([says("Not without the parents' consent."), says('Yes, if nobody can undo it.')]),
});

const chat = createChat({
  participants: [moderator, engineer, lawyer],
  // Whoever is called by name answers. Where nobody is, a model decides.
  selector: byMention({
    otherwise: coordinator({
      model: scriptedModel([
        gives('engineer', 'Somebody has to say what can be built without pictures.'),
        gives('moderator', 'The question is answered.'),
        gives('moderator', 'The question is answered.'),
      ]),
      instructions: 'Let the experts finish before the moderator asks again.',
    }),
  }),
  limits: { steps: 12 },
  // Added to the default criteria: it requests turns after everyone has spoken.
  criteria: [
    when<ChatState>('ModeratorHasMore', ({ currentStep }) =>
      currentStep?.participant === 'moderator' && currentStep.outputMessages[0]?.text === ''
        ? { decision: ContinuationDecision.AllowStop, reason: 'the moderator says nothing more' }
        : { decision: ContinuationDecision.RequestContinuation, reason: 'the moderator may still ask' },
    ),
  ],
});

const topic = 'Shall we sell the door camera to schools? Over to you, @moderator.';
print(`${topic}\n`);
const heard: string[] = [];
const run = chat.start(topic);
for await (const event of run) {
  // Every event of a turn has the speaker's name. This one comes before the words, and says why it is their turn.
  if (event.type === 'ParticipantSelected') {
    print(`\n(${event.reason ?? ''})\n${event.participant}: `);
    heard.push('');
  }
  if (event.type === 'TextDelta') {
    print(event.text);
    heard.push((heard.pop() ?? '') + event.text);
  }
  if (event.type === 'AgentStepCompleted' && event.orchestrator === 'chat') print('\n');
}
const result = await run.result;
const { state, status, usage } = result;
print(`\n${result.explain()}\n${String(usage.total)} tokens, the coordinator's among them\n`);

// It came as it was told above.
assert.deepEqual([status, state.lastContinuationOutcome?.resolvedBy], ['completed', 'EveryoneHasSpoken']);
const order = state.steps.map(({ participant }) => participant);
assert.deepEqual(order, ['moderator', 'engineer', 'lawyer', 'engineer', 'moderator', 'lawyer', 'moderator']);
const [, ...said] = state.transcript;
assert.deepEqual(
  heard,
  said.map(({ text }) => text),
);
assert.equal(usage.total, 4 * 140 + 3 * 165);
