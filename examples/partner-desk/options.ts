// The command line.

export type Options =
  | { readonly mode: 'chat' | 'tour' | 'help'; readonly offline: boolean }
  | { readonly mode: 'once'; readonly question?: string; readonly offline: boolean }
  | { readonly mode: 'wrong'; readonly problem: string };

export const usage = `Partner desk, a demo of Stepline: an agent that can always tell you why.

  npm start                        talk to it in the terminal
  npm start -- --once "question"   one answer, and why it stopped
  npm start -- --tour              failures, limits, approvals, and a pause to a file, each explained
  npm start -- --help              this page
  --offline                        runs on the script even where there is a key

Without a key a script answers, and no model. With one of these a model does:
  OPENAI_API_KEY                   OpenAI
  ANTHROPIC_API_KEY                Anthropic
  STEPLINE_BASE_URL                any server that speaks as OpenAI does; STEPLINE_API_KEY if it wants one
  STEPLINE_MODEL                   the model's name; needed with STEPLINE_BASE_URL`;

const wrong = (problem: string): Options => ({ mode: 'wrong', problem });

function readWords(words: readonly string[], { offline, once }: { readonly offline: boolean; readonly once: boolean }): Options {
  const [question, ...more] = words;
  if (question === undefined) return once ? { mode: 'once', offline } : { mode: 'chat', offline };
  if (!once) return wrong(`Put --once before a question: --once "${words.join(' ')}"`);
  if (more.length > 0) return wrong(`Put the question in quotes: --once "${words.join(' ')}"`);
  return question.trim() === '' ? wrong('The question is empty.') : { mode: 'once', question, offline };
}

/** Reads what came behind the command. */
export function readOptions(args: readonly string[]): Options {
  const flags = args.filter((arg) => arg.startsWith('-'));
  const words = args.filter((arg) => !arg.startsWith('-'));
  const strange = flags.find((flag) => !['--once', '--tour', '--help', '-h', '--offline'].includes(flag));
  if (strange !== undefined) return wrong(`There is no option ${strange}.`);
  const has = (flag: string): boolean => flags.includes(flag);
  const offline = has('--offline');
  if (has('--help') || has('-h')) return { mode: 'help', offline };
  if (has('--tour') && has('--once')) return wrong('--once and --tour do not go together.');
  if (has('--tour')) return words.length === 0 ? { mode: 'tour', offline } : wrong('--tour takes no question.');
  return readWords(words, { offline, once: has('--once') });
}
