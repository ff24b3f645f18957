import type { Model, ModelSettings } from '../../inference/index.ts';
import type { JsonObject } from '../../lib/index.ts';
import { InvalidArgumentError, isRecord } from '../../lib/index.ts';
import { Message } from '../../messages/index.ts';
import { clipText } from '../../tools/index.ts';
import type { ParticipantInfo } from '../participant.ts';
import { checkTimeout } from '../participant.ts';
import type { TurnState } from '../turn-state.ts';
import { roundRobin } from './round-robin.ts';
import type { Choice, SelectionFacts, Selector } from './selector.ts';
import { TurnNotGivenError } from './turn-not-given-error.ts';

/** What a model that gives the turn is made from. */
export interface CoordinatorOptions {
  readonly model: Model;
  /** What to choose by, in words for the model. */
  readonly instructions?: string;
  readonly settings?: ModelSettings;
  /** How long the model may take. @default 30_000 */
  readonly timeoutMs?: number;
  /** Whether the model may say that there is nothing more to say, which completes the conversation. @default false */
  readonly mayEnd?: boolean;
  /** Decides where the model names nobody who is there, or cannot be asked. @default roundRobin() */
  readonly otherwise?: Selector;
  /** How many of the last messages the model reads. @default 40 */
  readonly maxMessages?: number;
  /** How many characters of each. @default 2000 */
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

const listed = ({ name, description }: ParticipantInfo): string => (description === undefined ? `- ${name}` : `- ${name}: ${description}`);

function systemText({ participants, state }: SelectionFacts, instructions: string | undefined, mayEnd: boolean): string {
  const silent = participants.filter(({ name }) => !state.spokenSinceInput.has(name)).map(({ name }) => name);
  return [
    'You lead a conversation and do not take part in it. Say who speaks next.',
    `The participants are:\n${participants.map(listed).join('\n')}`,
    ...(silent.length === 0 ? [] : [`Not heard since the last input: ${silent.join(', ')}.`]),
    ...(instructions === undefined ? [] : [instructions]),
    ...(mayEnd ? ['Where nothing is left to say, the name is null.'] : []),
    'Answer with JSON: {"participant": the name, "reason": why, in one sentence}.',
  ].join('\n\n');
}

function transcriptOf(
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

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

// Models like to put a fence or a few words around their JSON.
const objectIn = (text: string): unknown => parsed(text) ?? parsed(text.slice(text.indexOf('{'), text.lastIndexOf('}') + 1));

/** Reads a choice out of what the model said; the problem where it is none. */
function readChoice(text: string, names: readonly string[], mayEnd: boolean): Choice | { readonly problem: string } {
  const data = objectIn(text);
  if (mayEnd && isRecord(data) && data['participant'] === null) {
    const { reason } = data;
    return { end: typeof reason === 'string' && reason.trim() !== '' ? reason.trim() : 'nothing is left to say' };
  }
  // A bare name will do as well.
  const given = isRecord(data) ? data['participant'] : text.trim();
  if (typeof given !== 'string' || given === '') return { problem: 'The coordinator named nobody.' };
  const name = names.find((each) => each === given) ?? names.find((each) => each.toLowerCase() === given.trim().toLowerCase());
  if (name === undefined) return { problem: `The coordinator chose ${JSON.stringify(clipText(given, 80))}, who does not take part.` };
  const reason = isRecord(data) ? data['reason'] : undefined;
  return { participant: name, ...(typeof reason === 'string' && reason.trim() !== '' && { reason: reason.trim() }) };
}

const known: readonly string[] = ['model', 'instructions', 'settings', 'timeoutMs', 'mayEnd', 'otherwise', 'maxMessages', 'maxTextLength'];

function checkCoordinator(options: unknown): void {
  if (!isRecord(options) || !isRecord(options['model']) || typeof options['model']['generate'] !== 'function')
    throw new InvalidArgumentError('coordinator() needs a model: { model }.');
  const { maxMessages, maxTextLength, timeoutMs } = options;
  const strange = Object.keys(options).find((name) => !known.includes(name));
  if (strange !== undefined) throw new InvalidArgumentError(`coordinator() has no option "${strange}"; there are ${known.join(', ')}.`);
  checkTimeout('coordinator', timeoutMs);
  const isCount = (given: unknown): boolean => given === undefined || (typeof given === 'number' && Number.isInteger(given) && given > 0);
  if (!isCount(maxMessages) || !isCount(maxTextLength))
    throw new InvalidArgumentError('coordinator() needs whole numbers above 0 as maxMessages and maxTextLength.');
}

/**
 * A model gives the turn. Where there is only one participant it is not asked. Where it names nobody who is there, or cannot be asked,
 * `otherwise` decides, and the turn's record and its event ParticipantSelected say so.
 */
export function coordinator(options: CoordinatorOptions): Selector {
  checkCoordinator(options);
  const {
    model,
    instructions,
    settings,
    otherwise = roundRobin(),
    maxMessages = 40,
    maxTextLength = 2000,
    timeoutMs = 30_000,
    mayEnd = false,
  } = options;

  const ask = async (facts: SelectionFacts): Promise<Choice | { readonly problem: string }> => {
    const { state, participants, ask: askModel } = facts;
    const names = participants.map(({ name }) => name);
    const transcript = transcriptOf(state, { maxMessages, maxTextLength });
    const messages = [
      Message.system(systemText(facts, instructions, mayEnd), { id: 'coordinator/system' }),
      Message.user(transcript === '' ? 'Nothing was said yet. Who begins?' : `${transcript}\n\nWho speaks next?`, {
        id: 'coordinator/user',
      }),
    ];
    const output = { schema: choiceSchema(names, mayEnd), name: 'next_speaker' };
    const outcome = await askModel(
      model,
      { messages, output, ...(settings !== undefined && { settings }) },
      { label: 'it', ...(timeoutMs !== Infinity && { timeoutMs }) },
    );
    if (!outcome.ok) return { problem: `The coordinator could not be asked: ${outcome.failure.message}` };
    const text = outcome.response.parts.flatMap((part) => (part.type === 'text' ? [part.text] : [])).join('');
    return readChoice(text, names, mayEnd);
  };

  return {
    name: 'coordinator',
    configuration: {
      model: `${model.provider}/${model.modelId}`,
      ...(instructions !== undefined && { instructions }),
      // Holds: headers are secrets, and the rest is plain data.
      ...(settings !== undefined && { settings: { ...settings, headers: undefined } as unknown as JsonObject }),
      maxMessages,
      maxTextLength,
      mayEnd,
      otherwise: { name: otherwise.name, ...otherwise.configuration },
    },
    select: async (facts) => {
      const [only, ...others] = facts.participants;
      if (only !== undefined && others.length === 0 && !mayEnd) return { participant: only.name, reason: 'nobody else takes part' };
      const choice = await ask(facts);
      if (!('problem' in choice) || 'participant' in choice) return choice;
      if (facts.signal.aborted) throw new TurnNotGivenError('The run was cut off while the coordinator was asked.');
      const fallback = await otherwise.select(facts);
      return { by: otherwise.name, ...fallback, problem: `${choice.problem.replace(/\.$/, '')}; so ${otherwise.name} decides.` };
    },
  };
}
