// Chats and collaborations.
import { stopWhen } from '../../../src/entry/index.ts';
import type { ChatOptions } from '../../../src/entry/chat.ts';
import {
  coordinator,
  createChat,
  functionParticipant,
  humanParticipant,
  llmParticipant,
  scriptedParticipant,
} from '../../../src/entry/chat.ts';
import type { CollaborationOptions } from '../../../src/entry/collaboration.ts';
import { createCollaboration, functionCollaborator, humanCollaborator, scriptedCollaborator } from '../../../src/entry/collaboration.ts';
import { scriptedModel } from '../../../src/entry/testing.ts';
import { createDesk, readDesk } from '../desk.ts';
import type { Fault, Staged } from '../fault.ts';
import { forged, leak, poison } from '../poison.ts';
import { call, createBrokenTool, createTool, fail, say, usage } from '../props.ts';
import { createWorld, runIn, stageRun, toStaged } from '../world.ts';

const host = scriptedParticipant({ name: 'host', says: ['That is enough.'] });
const guest = scriptedParticipant({ name: 'guest', says: ['Let me add…'] });
const stageChat = (options: ChatOptions, input?: string): Promise<Staged> =>
  stageRun(({ ports }) => createChat({ ...options, ports }), input);
const stageCollaboration = (options: CollaborationOptions): Promise<Staged> =>
  stageRun(({ ports }) => createCollaboration({ ...options, ports }), 'Write a slogan.');

export const chatFaults: readonly Fault[] = [
  {
    name: 'a participant whose function throws',
    stage: () =>
      stageChat({
        participants: [
          host,
          functionParticipant({
            name: 'oracle',
            speak: () => {
              throw new Error(`the stars are silent ${poison}`);
            },
          }),
        ],
      }),
    truth: { status: 'failed', rule: 'ErrorPolicyCriterion', reason: ['oracle', 'the stars are silent'], step: 2 },
  },
  {
    name: 'a participant whose model has a wrong key',
    stage: () =>
      stageChat({
        participants: [
          host,
          llmParticipant({
            name: 'lawyer',
            model: scriptedModel([fail({ type: 'model', code: 'unauthorized', message: leak.apiKey, retryable: false })]),
          }),
        ],
      }),
    truth: { status: 'failed', rule: 'ErrorPolicyCriterion', reason: ['lawyer', 'Incorrect API key provided'], step: 2 },
  },
  {
    name: 'a participant that calls tools until its own limit',
    stage: () =>
      stageChat({
        participants: [
          llmParticipant({
            name: 'engineer',
            model: scriptedModel([call('dig')], { repeatLast: true }),
            tools: [createTool('dig', () => 'more to dig')],
            limits: { steps: 3 },
          }),
          host,
        ],
      }),
    truth: {
      status: 'failed',
      rule: 'ErrorPolicyCriterion',
      reason: ['engineer'],
      step: 1,
      also: [/3 of 3/, /StepsLimit|steps_limit|step limit/],
    },
  },
  {
    name: 'a participant whose tool fails three times',
    stage: () =>
      stageChat({
        participants: [
          llmParticipant({
            name: 'engineer',
            model: scriptedModel([call('export')], { repeatLast: true }),
            tools: [createBrokenTool('export', new Error(`disk quota exceeded${forged}`))],
          }),
          host,
        ],
      }),
    truth: { status: 'failed', rule: 'ErrorPolicyCriterion', reason: ['engineer', 'disk quota exceeded'], step: 1, also: ['export'] },
  },
  {
    name: 'a chat that waits for a person',
    stage: () => stageChat({ participants: [host, humanParticipant({ name: 'boss', prompt: `May we offer this? ${poison}` })] }),
    truth: { status: 'waiting', reason: ['boss', 'boss/2', 'May we offer this?'], step: 2 },
  },
  {
    name: 'a person whose answer could not be used',
    stage: async () => {
      const world = createWorld();
      const chat = createChat({ participants: [host, humanParticipant({ name: 'boss' })], ports: world.ports });
      const asked = await runIn(world, chat);
      return toStaged(world, await runIn(world, chat, asked.state.answer('boss/2', 42)));
    },
    truth: { status: 'waiting', reason: ['boss', 'boss/2', /number|42|text/], step: 2 },
  },
  {
    name: 'a chat that reaches its limit on turns',
    stage: () =>
      stageChat({ participants: [host, guest, scriptedParticipant({ name: 'third', says: ['Me too.'] })], limits: { steps: 2 } }),
    truth: { status: 'stopped', rule: 'StepsLimit', reason: ['2 of 2'], step: 2, also: ['third'] },
  },
  {
    name: 'a chat that waits at its limit on turns',
    stage: () => stageChat({ participants: [host, guest], limits: { steps: 1, onLimit: 'pause' } }),
    truth: { status: 'waiting', rule: 'StepsLimit', reason: ['1 of 1', /more steps/], step: 1, also: ['guest'] },
  },
  {
    name: 'a selector that names a stranger',
    stage: () => stageChat({ participants: [host, guest], selector: () => `nobody${forged}` }),
    truth: { status: 'failed', rule: 'ErrorPolicyCriterion', reason: ['nobody'], step: 1, also: ['host', 'guest'] },
  },
  {
    name: 'a selector that throws',
    stage: () =>
      stageChat({
        participants: [host, guest],
        selector: () => {
          throw new Error(`the dice are lost ${leak.bearer}`);
        },
      }),
    truth: { status: 'failed', rule: 'ErrorPolicyCriterion', reason: ['the dice are lost'], step: 1 },
  },
  {
    name: 'a coordinator that fails, so that another rule gives the turn',
    stage: () =>
      stageChat({
        participants: [host, guest],
        selector: coordinator({
          model: scriptedModel([fail({ type: 'model', code: 'http-503', message: 'no chair today', retryable: true })], {
            repeatLast: true,
          }),
        }),
      }),
    truth: {
      status: 'completed',
      rule: 'EveryoneHasSpoken',
      reason: [/everyone has spoken/i],
      step: 2,
      also: ['no chair today', 'round-robin'],
    },
  },
  {
    name: 'a coordinator that ends the chat',
    stage: () =>
      stageChat({
        participants: [host, guest],
        selector: coordinator({
          model: scriptedModel([
            say('{"participant":"host","reason":"Opens."}'),
            say(JSON.stringify({ end: `All is said.${forged}`, participant: null, reason: 'All is said.' })),
          ]),
          mayEnd: true,
        }),
      }),
    truth: { status: 'completed', reason: ['All is said'] },
  },
  {
    name: 'an own guard of a chat',
    stage: () =>
      stageChat({
        participants: [host, guest],
        criteria: [stopWhen('HostEndsIt', ({ currentStep }) => currentStep?.participant === 'host' && `the host has spoken${forged}`)],
      }),
    truth: { status: 'stopped', rule: 'HostEndsIt', reason: ['the host has spoken'], step: 1, also: ['host'] },
  },
  {
    name: 'a turn that a content filter cut off',
    stage: () =>
      stageChat({
        participants: [
          llmParticipant({ name: 'lawyer', model: scriptedModel([{ text: 'It is', usage, finishReason: 'content_filter' }]) }),
          host,
        ],
      }),
    truth: { status: 'stopped', rule: 'FinishReasonCheck', reason: ['content_filter'], step: 1, also: ['lawyer'] },
  },
  {
    name: 'a turn whose tool waits for approval, in a session',
    stage: async () => {
      const desk = createDesk();
      const clerk = llmParticipant({
        name: 'clerk',
        model: scriptedModel([call({ name: 'pay', id: 'pay-1' })]),
        tools: [createTool('pay', () => 'paid', { needsApproval: true })],
      });
      return readDesk(desk, await desk.open(createChat({ id: 'room', participants: [clerk, host], ports: desk.ports })));
    },
    truth: { status: 'waiting', reason: [/approval/, 'pay', 'clerk/pay-1'], step: 1, also: ['clerk'] },
  },
];

export const collaborationFaults: readonly Fault[] = [
  {
    name: 'a task that nobody approves until the limit',
    stage: () =>
      stageCollaboration({
        collaborators: [
          scriptedCollaborator({ name: 'writer', says: [{ writes: { slogan: `The lamp. ${poison}` } }] }),
          scriptedCollaborator({ name: 'critic', says: ['Not yet.'] }),
        ],
        done: { artifact: 'slogan', approvedBy: ['critic'] },
        limits: { steps: 4 },
      }),
    truth: { status: 'stopped', rule: 'StepsLimit', reason: ['4 of 4'], step: 4, also: ['critic', 'slogan', /approv/] },
  },
  {
    name: 'an artifact that never fits its schema',
    stage: () =>
      stageCollaboration({
        collaborators: [
          scriptedCollaborator({ name: 'clerk', says: [{ writes: { quote: '{"euros":"ten"}' } }] }),
          scriptedCollaborator({ name: 'boss', says: ['A number, please.'] }),
        ],
        done: { artifact: 'quote', schema: { type: 'object', properties: { euros: { type: 'number' } }, required: ['euros'] } },
        limits: { steps: 2 },
      }),
    truth: { status: 'stopped', rule: 'StepsLimit', reason: ['2 of 2'], step: 2, also: ['quote', 'euros', 'number'] },
  },
  {
    name: 'a collaborator whose contribution is not one',
    stage: () =>
      stageCollaboration({
        collaborators: [
          functionCollaborator({ name: 'robot', speak: (() => ({ writes: { slogan: 42 } })) as never }),
          scriptedCollaborator({ name: 'critic', says: ['Hm.'] }),
        ],
      }),
    truth: { status: 'failed', rule: 'ErrorPolicyCriterion', reason: ['robot', 'slogan'], step: 1 },
  },
  {
    name: 'a task that waits for a person who may approve',
    stage: () =>
      stageCollaboration({
        collaborators: [
          scriptedCollaborator({ name: 'writer', says: [{ writes: { slogan: 'The lamp that listens.' } }] }),
          humanCollaborator({ name: 'boss', prompt: 'Do you approve?' }),
        ],
        done: { artifact: 'slogan', approvedBy: ['boss'] },
      }),
    truth: { status: 'waiting', reason: ['boss', 'boss/2', 'Do you approve?'], step: 2 },
  },
];
