import { describeValue, InvalidArgumentError, isRecord } from '../lib/index.ts';
import { checkOptions, checkOwnCriteria } from '../tool-use/index.ts';

const isParticipant = (value: unknown): value is { readonly name: string } =>
  isRecord(value) && typeof value['join'] === 'function' && typeof value['name'] === 'string';

function checkParticipants(maker: string, participants: unknown, key: string): void {
  if (!Array.isArray(participants) || participants.length === 0)
    throw new InvalidArgumentError(`${maker} needs ${key}: a list of at least one, not ${describeValue(participants)}.`);
  const list: readonly unknown[] = participants;
  const invalid = list.findIndex((each) => !isParticipant(each));
  if (invalid !== -1)
    throw new InvalidArgumentError(
      `${maker}: ${key}[${invalid}] is not a participant. Create it with llmParticipant(), agentParticipant() or humanParticipant().`,
    );
  const names = list.filter(isParticipant).map(({ name }) => name);
  const lower = names.map((name) => name.toLowerCase());
  const twice = names.find((_, index) => lower.indexOf(lower[index] ?? '') !== index);
  if (twice !== undefined)
    throw new InvalidArgumentError(
      `${maker}: two ${key} are named "${twice}" (upper and lower case do not count). Give each a different name.`,
    );
}

const optionNames = [
  ...['id', 'version', 'selector', 'limits', 'errors', 'finishReasons', 'criteria', 'onlyCriteria', 'price'],
  ...['introduce', 'throwOnFailure', 'events', 'ports'],
];

/** Throws if a conversation cannot work with these options, or does not know one of them. */
export function checkConversationOptions(
  maker: string,
  options: unknown,
  { key = 'participants', more = [] }: { readonly key?: string; readonly more?: readonly string[] } = {},
): void {
  checkOptions(maker, options, { known: [key, ...optionNames, ...more] });
  checkOwnCriteria(maker, options);
  checkParticipants(maker, options[key], key);
}
