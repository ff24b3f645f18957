import { speakerOf } from '../turn-state.ts';
import { nextAfter } from './round-robin.ts';
import type { Selector } from './selector.ts';

/** What decides where nobody was addressed. */
export interface AddressedOptions {
  /** @default the next in the round; as long as somebody has not spoken since the last input, the next of those */
  readonly otherwise?: Selector;
}

// A mail address is no mention.
const mentions = /(?<![\p{L}\p{N}_.-])@([\p{L}\p{N}][\p{L}\p{N}_.-]*)/gu;

/** Who is addressed in a text as `@name`, in the order of the text. */
function addressedIn(text: string, names: readonly string[]): readonly string[] {
  return [...text.matchAll(mentions)].flatMap(([, mention = '']) => {
    // A full stop may end the sentence, or be part of the name.
    const wanted = [mention, mention.replace(/[._-]+$/, '')].map((name) => name.toLowerCase());
    return names.find((name) => wanted.includes(name.toLowerCase())) ?? [];
  });
}

// Where some keep addressing each other, a plain round would leave others out for ever.
const nextUnheard: Selector = {
  name: 'round-robin',
  select: ({ state, participants, last, next }) => {
    const names = participants.map(({ name }) => name);
    const rest = names.map((_, index) => names[(names.indexOf(next) + index) % names.length] ?? next);
    const unheard = rest.find((name) => name !== last && !state.spokenSinceInput.has(name));
    return { participant: unheard ?? nextAfter(last, names) };
  },
};

/** Whoever the last words address as `@name`. Nobody addresses themselves; the first one of several is taken. */
export function addressed({ otherwise = nextUnheard }: AddressedOptions = {}): Selector {
  return {
    name: 'addressed',
    configuration: { otherwise: { name: otherwise.name, ...otherwise.configuration } },
    select: async (facts) => {
      const { state, participants } = facts;
      const last = state.messages.last;
      const speaker = last === undefined ? undefined : speakerOf(last);
      const names = participants.map(({ name }) => name).filter((name) => name !== speaker);
      const [participant] = addressedIn(last?.text ?? '', names);
      if (participant === undefined) return { by: otherwise.name, ...(await otherwise.select(facts)) };
      return { participant, reason: `${speaker ?? 'the last input'} addressed @${participant}` };
    },
  };
}
