// The command line.

interface Common {
  readonly offline: boolean;
  /** True if every event is printed to the error output. @default false */
  readonly log?: boolean;
}

export type Options =
  | (Common & { readonly mode: 'tour' | 'help' })
  | (Common & {
      readonly mode: 'chat';
      /** The file of the conversations; absent for the usual one. */
      readonly db?: string;
      /** True if no stored conversation is continued. */
      readonly isNew: boolean;
    })
  | (Common & { readonly mode: 'once'; readonly question?: string })
  | { readonly mode: 'wrong'; readonly problem: string };

export const usage = `Partner desk, a demo of Stepline: an agent that can always tell you why.

  npm start                        talk to it in the terminal; goes on with the last conversation
  npm start -- --new               begins another conversation; the others stay
  npm start -- --db FILE           keeps the conversations in this file, and the leads beside it
  npm start -- --once "question"   one answer, and why it stopped
  echo "question" | npm start      the same, with the question from a pipe
  npm start -- --tour              failures, limits, approvals, pauses, a killed process, each explained
  npm start -- --help              this page
  --log                            prints every event and every decision on the error output
  --offline                        runs on the script even where there is a key

Without a key a script answers, and no model. With one of these a model does:
  OPENAI_API_KEY                   OpenAI
  ANTHROPIC_API_KEY                Anthropic
  STEPLINE_BASE_URL                any server that speaks as OpenAI does; STEPLINE_API_KEY if it wants one
  STEPLINE_MODEL                   the model's name; needed with STEPLINE_BASE_URL`;

const wrong = (problem: string): Options => ({ mode: 'wrong', problem });

const knownFlags = ['--once', '--tour', '--help', '-h', '--offline', '--log', '--new', '--db'];

interface CommandLine {
  readonly flags: readonly string[];
  readonly words: readonly string[];
  readonly db?: string;
}

/** Takes the file out from behind its flag. */
function readGiven(args: readonly string[]): CommandLine {
  const isFlag = (arg: string): boolean => arg.startsWith('-');
  const at = args.findLastIndex((arg) => arg === '--db');
  const db = at === -1 ? undefined : args[at + 1];
  const hasFile = db !== undefined && !isFlag(db) && db.trim() !== '';
  const rest = hasFile ? args.toSpliced(at + 1, 1) : args;
  return { flags: rest.filter(isFlag), words: rest.filter((arg) => !isFlag(arg)), ...(hasFile && { db }) };
}

function readQuestion({ words }: CommandLine, common: Common): Options {
  const [question, ...more] = words;
  if (question === undefined) return { mode: 'once', ...common };
  if (more.length > 0) return wrong(`Put the question in quotes: --once "${words.join(' ')}"`);
  return question.trim() === '' ? wrong('The question is empty.') : { mode: 'once', question, ...common };
}

/** Returns the problem with options that exclude each other. */
function conflictIn({ flags, words, db }: CommandLine): string | undefined {
  const has = (flag: string): boolean => flags.includes(flag);
  if (has('--db') && db === undefined) return 'Name a file: --db FILE';
  if (has('--tour') && has('--once')) return '--once and --tour do not go together.';
  const mode = ['--tour', '--once'].find(has);
  const kept = ['--new', '--db'].find(has);
  if (mode !== undefined && kept !== undefined) return `${mode} keeps nothing, so it takes no ${kept}.`;
  if (has('--tour') && words.length > 0) return '--tour takes no question.';
  return mode === undefined && words.length > 0 ? `Put --once before a question: --once "${words.join(' ')}"` : undefined;
}

/** Reads what came behind the command. */
export function readOptions(args: readonly string[]): Options {
  const given = readGiven(args);
  const { flags, db } = given;
  const has = (flag: string): boolean => flags.includes(flag);
  const strange = flags.find((flag) => !knownFlags.includes(flag));
  if (strange !== undefined) return wrong(`There is no option ${strange}.`);
  const common: Common = { offline: has('--offline'), ...(has('--log') && { log: true }) };
  if (has('--help') || has('-h')) return { mode: 'help', ...common };
  const conflict = conflictIn(given);
  if (conflict !== undefined) return wrong(conflict);
  if (has('--tour')) return { mode: 'tour', ...common };
  if (has('--once')) return readQuestion(given, common);
  return { mode: 'chat', ...common, isNew: has('--new'), ...(db !== undefined && { db }) };
}
