import type { Model, ModelSettings } from '../../inference/index.ts';
import { checkModel } from '../../inference/index.ts';
import type { JsonObject } from '../../lib/index.ts';
import { isRecord, omitUndefined, present } from '../../lib/index.ts';
import { Message } from '../../messages/index.ts';
import { checkOptions, findJson, optionRule } from '../../tool-use/index.ts';
import { clipText } from '../../tools/index.ts';
import { TurnNotGivenError } from '../turn-not-given-error.ts';
import type { ParticipantInfo } from '../participant.ts';
import { timeoutRule, toTimeout } from '../participant.ts';
import type { TurnState } from '../turn-state.ts';
import { roundRobin } from './round-robin.ts';
import type { Choice, SelectionFacts, Selector } from './selector.ts';

/** Options of a model that selects the next participant. */
export interface CoordinatorOptions {
  readonly model: Model;
  /** Advice for the choice, in words for the model. */
  readonly instructions?: string;
  readonly settings?: ModelSettings;
  /** Time limit of the model. @default 30_000 */
  readonly timeoutMs?: number;
  /** Allows the model to complete the conversation if nothing is left to say. @default false */
  readonly mayEnd?: boolean;
  /** Selects if the model names nobody who takes part, or cannot be asked. @default roundRobin() */
  readonly otherwise?: Selector;
  /** Number of last messages that the model reads. @default 40 */
  readonly maxMessages?: number;
  /** Number of characters that it reads of each. @default 2000 */
  readonly maxTextLength?: number;
}

const choiceSchema = (names: readonly string[], mayEnd: boolean): JsonObject => ({
  type: 'object',
  properties: {
    participant: mayEnd
      ? { type: ['string', 'null'], enum: [...names, null], description: 'Who speaks next; null where nothing is left to say.' }
      : { type: 'string', enum: names, description: 'Who speaks next.' },
    reason: { type: 'string', description: 'Why, in one sentence.' },
  },
  required: ['participant', 'reason'],
  additionalProperties: false,
});

const toListItem = ({ name, description }: ParticipantInfo): string =>
  description === undefined ? `- ${name}` : `- ${name}: ${description}`;

function systemText({ participants, state }: SelectionFacts, instructions: string | undefined, mayEnd: boolean): string {
  const silent = participants.filter(({ name }) => !state.spokenSinceInput.has(name)).map(({ name }) => name);
  return [
    'You lead a conversation and do not take part in it. Say who speaks next.',
    `The participants are:\n${participants.map(toListItem).join('\n')}`,
    ...(silent.length === 0 ? [] : [`Not heard since the last input: ${silent.join(', ')}.`]),
    ...(instructions === undefined ? [] : [instructions]),
    ...(mayEnd ? ['Where nothing is left to say, the name is null.'] : []),
    'Answer with JSON: {"participant": the name, "reason": why, in one sentence}.',
  ].join('\n\n');
}

function writeTranscript(
  state: TurnState,
  { maxMessages, maxTextLength }: { readonly maxMessages: number; readonly maxTextLength: number },
): string {
  const said = state.transcript.filter(({ text }) => text !== '');
  // As data: what somebody says cannot pass for the words of somebody else.
  const shown = said
    .slice(-maxMessages)
    .map(({ speaker = 'input', text }) => JSON.stringify({ speaker, text: clipText(text, maxTextLength) }));
  const omitted = said.length - shown.length;
  return [...(omitted > 0 ? [`(${omitted} earlier messages are left out.)`] : []), ...shown].join('\n');
}

/** Reads the choice in an answer of the model, or says what is wrong with it. */
function readChoice(text: string, names: readonly string[], mayEnd: boolean): Choice | { readonly problem: string } {
  const data = findJson(text);
  const words = isRecord(data) && typeof data['reason'] === 'string' ? data['reason'].trim() : '';
  const reason = words === '' ? undefined : words;
  if (mayEnd && isRecord(data) && data['participant'] === null) return { end: reason ?? 'nothing is left to say' };
  // A bare name will do as well.
  const given = isRecord(data) ? data['participant'] : text.trim();
  if (typeof given !== 'string' || given === '') return { problem: 'The coordinator named nobody.' };
  const name = names.find((each) => each === given) ?? names.find((each) => each.toLowerCase() === given.trim().toLowerCase());
  if (name === undefined) return { problem: `The coordinator chose ${JSON.stringify(clipText(given, 80))}, who does not take part.` };
  return omitUndefined({ participant: name, reason });
}

const { count, text } = optionRule;
const known = ['model', 'instructions', 'settings', 'timeoutMs', 'mayEnd', 'otherwise', 'maxMessages', 'maxTextLength'];
const rules = { instructions: text, timeoutMs: timeoutRule, maxMessages: count, maxTextLength: count };

/**
 * Lets a model select. It is not asked if there is only one participant. If it names nobody who takes part, or cannot be asked,
 * `otherwise` decides, and the turn's record and its event ParticipantSelected say so.
 */
export function coordinator(options: CoordinatorOptions): Selector {
  checkOptions('coordinator()', options, { rules, known });
  checkModel('coordinator()', options.model);
  const { model, instructions, settings, otherwise = roundRobin(), mayEnd = false } = options;
  const { maxMessages = 40, maxTextLength = 2000, timeoutMs = 30_000 } = options;

  const ask = async (facts: SelectionFacts): Promise<Choice | { readonly problem: string }> => {
    const { state, participants, ask: askModel } = facts;
    const names = participants.map(({ name }) => name);
    const transcript = writeTranscript(state, { maxMessages, maxTextLength });
    const messages = [
      Message.system(systemText(facts, instructions, mayEnd), { id: 'coordinator/system' }),
      Message.user(transcript === '' ? 'Nothing was said yet. Who begins?' : `${transcript}\n\nWho speaks next?`, {
        id: 'coordinator/user',
      }),
    ];
    const output = { schema: choiceSchema(names, mayEnd), name: 'next_speaker' };
    const outcome = await askModel(model, omitUndefined({ messages, output, settings }), { label: 'it', ...toTimeout(timeoutMs) });
    if (!outcome.ok) return { problem: `The coordinator could not be asked: ${outcome.failure.message}` };
    const text = outcome.response.parts.flatMap((part) => (part.type === 'text' ? [part.text] : [])).join('');
    return readChoice(text, names, mayEnd);
  };

  return {
    name: 'coordinator',
    configuration: present({
      model: `${model.provider}/${model.modelId}`,
      instructions,
      // Headers are secrets.
      settings: settings && present({ ...settings, headers: undefined }),
      maxMessages,
      maxTextLength,
      mayEnd,
      otherwise: { name: otherwise.name, ...otherwise.configuration },
    }),
    select: async (facts) => {
      const [only, ...others] = facts.participants;
      if (only !== undefined && others.length === 0 && !mayEnd) return { participant: only.name, reason: 'nobody else takes part' };
      const choice = await ask(facts);
      if (!('problem' in choice) || 'participant' in choice) return choice;
      if (facts.signal.aborted)
        throw new TurnNotGivenError('The run was interrupted while the coordinator was choosing. Nobody got the turn.');
      const fallback = await otherwise.select(facts);
      return { by: otherwise.name, ...fallback, problem: choice.problem };
    },
  };
}
