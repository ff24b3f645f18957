import { ErrorPolicy } from '../errors/index.ts';
import { InvalidArgumentError, isRecord } from '../lib/index.ts';

const isParticipant = (each: unknown): each is { readonly name: string } =>
  isRecord(each) && typeof each['join'] === 'function' && typeof each['name'] === 'string';

function checkParticipants(maker: string, participants: unknown, of: string): void {
  if (!Array.isArray(participants) || participants.length === 0)
    throw new InvalidArgumentError(`${maker}() needs ${of}: a list with at least one of them.`);
  const list: readonly unknown[] = participants;
  const strange = list.findIndex((each) => !isParticipant(each));
  if (strange !== -1)
    throw new InvalidArgumentError(
      `${maker}(): number ${strange + 1} of those who take part is no participant; make it with llmParticipant() or one of its like.`,
    );
  const names = list.filter(isParticipant).map(({ name }) => name);
  const lower = names.map((name) => name.toLowerCase());
  const twice = lower.findIndex((name, index) => lower.indexOf(name) !== index);
  if (twice !== -1)
    throw new InvalidArgumentError(
      `${maker}(): two of those who take part are called "${names[twice] ?? ''}"; give each a name of its own, in which upper and lower case do not count.`,
    );
}

const knownOptions = [
  ...['id', 'version', 'selector', 'limits', 'errors', 'finishReasons', 'criteria', 'price'],
  ...['introduce', 'throwOnFailure', 'events', 'ports'],
];

const rules: readonly (readonly [option: string, isRight: (given: unknown) => boolean, wanted: string])[] = [
  ['id', (each) => typeof each === 'string' && each !== '', 'text'],
  ['version', (each) => typeof each === 'string', 'text'],
  ['limits', isRecord, 'an object'],
  ['errors', (each) => each instanceof ErrorPolicy, 'an ErrorPolicy, such as ErrorPolicy.retryAll(3)'],
  ['finishReasons', Array.isArray, 'a list'],
  ['criteria', Array.isArray, 'a list'],
  ['price', (each) => typeof each === 'function', 'a function, such as priceTable({…}) makes'],
  ['introduce', (each) => typeof each === 'boolean', 'true or false'],
  ['throwOnFailure', (each) => typeof each === 'boolean', 'true or false'],
  [
    'selector',
    (each) => typeof each === 'function' || (isRecord(each) && typeof each['select'] === 'function'),
    'a selector, or a function that names a participant',
  ],
  ['events', (each) => isRecord(each) && typeof each['emit'] === 'function', 'an event bus, as createEventBus() makes'],
  ['ports', isRecord, 'an object with any of clock, ids, random, onProblem'],
];

/** Refuses what cannot work, and options that there are not: a misspelt one would be silently ignored. */
export function checkConversationOptions(
  maker: string,
  options: unknown,
  { of = 'participants', more = [] }: { readonly of?: string; readonly more?: readonly string[] } = {},
): void {
  if (!isRecord(options)) throw new InvalidArgumentError(`${maker}() needs options: at least { ${of} }.`);
  const known = [of, ...knownOptions, ...more];
  const strange = Object.keys(options).find((name) => !known.includes(name));
  if (strange !== undefined) throw new InvalidArgumentError(`${maker}() has no option "${strange}"; there are ${known.join(', ')}.`);
  const broken = rules.find(([option, isRight]) => options[option] !== undefined && !isRight(options[option]));
  if (broken !== undefined) throw new InvalidArgumentError(`${maker}(): ${broken[0]} must be ${broken[2]}.`);
  checkParticipants(maker, options[of], of);
}
