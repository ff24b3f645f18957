import { checkKeys } from '../../lib/index.ts';
import { getSpeaker } from '../turn-state.ts';
import { roundRobin } from './round-robin.ts';
import type { Selector } from './selector.ts';

/** Options of the selector by address. */
export interface ByMentionOptions {
  /** Selects if nobody was mentioned. @default roundRobin() */
  readonly otherwise?: Selector;
}

// Neither a mail address nor the name of a package is a mention.
const mentions = /(?<![\p{L}\p{N}_.-])@([\p{L}\p{N}][\p{L}\p{N}_.-]*)(?!\/)/gu;

/** Lists the participants mentioned in a text as `@name`, in the order of the text. */
function findMentioned(text: string, names: readonly string[]): readonly string[] {
  return [...text.matchAll(mentions)].flatMap(([, mention = '']) => {
    // A full stop may end the sentence, or be part of the name.
    const wanted = [mention, mention.replace(/[._-]+$/, '')].map((name) => name.toLowerCase());
    return names.find((name) => wanted.includes(name.toLowerCase())) ?? [];
  });
}

/** Selects the participant that the last message mentions as `@name`: the first, if there are several. Mentions of oneself do not count. */
export function byMention(options: ByMentionOptions = {}): Selector {
  const { otherwise = roundRobin() } = options;
  checkKeys('byMention()', options, ['otherwise']);
  return {
    name: 'by-mention',
    configuration: { otherwise: { name: otherwise.name, ...otherwise.configuration } },
    select: async (facts) => {
      const { state, participants } = facts;
      const last = state.messages.at(-1);
      const speaker = last === undefined ? undefined : getSpeaker(last);
      const names = participants.map(({ name }) => name).filter((name) => name !== speaker);
      const [participant] = findMentioned(last?.text ?? '', names);
      if (participant === undefined) return { by: otherwise.name, ...(await otherwise.select(facts)) };
      return { participant, reason: `${speaker ?? 'the last input'} addressed @${participant}` };
    },
  };
}
