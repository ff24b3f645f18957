// The command line.

interface Common {
  readonly offline: boolean;
  /** True if every event is printed to the error output. @default false */
  readonly log?: boolean;
}

export type Options =
  | (Common & { readonly mode: 'tour' | 'help' })
  | (Common & {
      readonly mode: 'page';
      /** File of the conversations. @default the usual one */
      readonly db?: string;
      /** @default the usual one, or a free one if that is taken */
      readonly port?: number;
    })
  | (Common & {
      readonly mode: 'chat';
      /** File of the conversations. @default the usual one */
      readonly db?: string;
      /** True if no stored conversation is continued. */
      readonly isNew: boolean;
    })
  | (Common & { readonly mode: 'once'; readonly question?: string })
  | { readonly mode: 'wrong'; readonly problem: string };

export const usage = `Partner desk, a demo of Stepline: an agent that can always tell you why.

  npm start                        serves its page on this machine, and prints the address
  npm start -- --port 8080         serves it on this port, with or without a terminal
  npm start -- --db FILE           keeps the conversations in this file, and the leads beside it
  npm start -- --terminal          talks in the terminal; continues the last conversation there
  npm start -- --terminal --new    begins another conversation; the others stay
  npm start -- --once "question"   one answer, and why it stopped
  echo "question" | npm start      the same, with the question from a pipe
  npm start -- --tour              a tour in the terminal; the page has a button for its own
  npm start -- --help              this page
  --log                            prints every event and every decision on the error output
  --offline                        runs on the script even if there is a key

Without a key a script answers, not a model. With one of these a model does:
  OPENAI_API_KEY                   OpenAI
  ANTHROPIC_API_KEY                Anthropic
  STEPLINE_BASE_URL                any server that speaks as OpenAI does; STEPLINE_API_KEY if it wants one
  STEPLINE_MODEL                   the model's name; needed with STEPLINE_BASE_URL`;

const wrong = (problem: string): Options => ({ mode: 'wrong', problem });

const knownFlags = ['--once', '--tour', '--terminal', '--help', '-h', '--offline', '--log', '--new', '--db', '--port'];

/** Options that are followed by a value. */
const valueFlags = ['--db', '--port'] as const;
type ValueFlag = (typeof valueFlags)[number];

interface CommandLine {
  readonly flags: readonly string[];
  readonly words: readonly string[];
  readonly values: Readonly<Partial<Record<ValueFlag, string>>>;
}

const isFlag = (arg: string): boolean => arg.startsWith('-');

/** Takes the values out from behind their flags. */
function readGiven(args: readonly string[]): CommandLine {
  let rest = args;
  const values: Partial<Record<ValueFlag, string>> = {};
  for (const flag of valueFlags) {
    const at = rest.lastIndexOf(flag);
    const value = at === -1 ? undefined : rest[at + 1];
    if (value === undefined || isFlag(value) || value.trim() === '') continue;
    values[flag] = value;
    rest = rest.toSpliced(at + 1, 1);
  }
  return { flags: rest.filter(isFlag), words: rest.filter((arg) => !isFlag(arg)), values };
}

function readQuestion({ words }: CommandLine, common: Common): Options {
  const [question, ...more] = words;
  if (question === undefined) return { mode: 'once', ...common };
  if (more.length > 0) return wrong(`Put the question in quotes: --once "${words.join(' ')}"`);
  return question.trim() === '' ? wrong('The question is empty.') : { mode: 'once', question, ...common };
}

const isPort = (text: string): boolean => /^\d{1,5}$/.test(text) && Number(text) <= 65_535;

/** Returns the problem with a value. */
function findValueProblem({ flags, values }: CommandLine): string | undefined {
  const { '--db': db, '--port': port } = values;
  if (flags.includes('--db') && db === undefined) return 'Name a file: --db FILE';
  if (flags.includes('--port') && (port === undefined || !isPort(port))) return 'Name a port from 0 to 65535: --port 8080';
  return undefined;
}

/** Returns the problem with options that exclude each other. */
function findConflict({ flags, words }: CommandLine): string | undefined {
  const has = (flag: string): boolean => flags.includes(flag);
  const [mode, other] = ['--once', '--tour', '--terminal'].filter(has);
  if (mode !== undefined && other !== undefined) return `${mode} and ${other} do not go together.`;
  if (mode !== undefined && has('--port')) return `${mode} serves no page, so it takes no --port.`;
  if (mode === undefined && has('--new')) return '--new goes with --terminal. On the page, press "New session".';
  const kept = ['--new', '--db'].find(has);
  if (mode !== undefined && mode !== '--terminal' && kept !== undefined) return `${mode} keeps nothing, so it takes no ${kept}.`;
  if (words.length === 0 || mode === '--once') return undefined;
  return mode === '--tour' ? '--tour takes no question.' : `Put --once before a question: --once "${words.join(' ')}"`;
}

/** Reads what came behind the command. */
export function readOptions(args: readonly string[]): Options {
  const given = readGiven(args);
  const has = (flag: string): boolean => given.flags.includes(flag);
  const strange = given.flags.find((flag) => !knownFlags.includes(flag));
  if (strange !== undefined) return wrong(`There is no option ${strange}.`);
  const common: Common = { offline: has('--offline'), ...(has('--log') && { log: true }) };
  if (has('--help') || has('-h')) return { mode: 'help', ...common };
  const problem = findValueProblem(given) ?? findConflict(given);
  if (problem !== undefined) return wrong(problem);
  if (has('--tour')) return { mode: 'tour', ...common };
  if (has('--once')) return readQuestion(given, common);
  const { '--db': db, '--port': port } = given.values;
  const file = db === undefined ? {} : { db };
  if (has('--terminal')) return { mode: 'chat', ...common, isNew: has('--new'), ...file };
  return { mode: 'page', ...common, ...file, ...(port !== undefined && { port: Number(port) }) };
}
