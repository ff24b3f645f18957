// The partner desk: npm start. See --help.
import { SteplineError } from 'stepline';
import { chat, commands } from './chat.ts';
import type { Chosen } from './choose-model.ts';
import { ChoiceError, chooseModel, terminalPaceMs } from './choose-model.ts';
import { createDesk } from './desk.ts';
import { chooseDirectory, createDesks } from './desks.ts';
import { HomeError, openHome, usualFile, whoIsHere } from './home.ts';
import { createKeyboard } from './keyboard.ts';
import { createLog } from './log.ts';
import { defaultQuestion, once } from './once.ts';
import type { Options } from './options.ts';
import { readOptions, usage } from './options.ts';
import { createDirectory } from './partners.ts';
import { readPiped } from './piped.ts';
import { createProblems, problemText } from './problems.ts';
import { toRelativePath } from './relative-path.ts';
import type { Screen } from './screen.ts';
import { createScreen } from './screen.ts';
import { examples } from './sentences.ts';
import { createStage } from './stage.ts';
import { tour } from './tour.ts';
import { releaseNight } from './web/night.ts';
import { serve } from './web/serve.ts';

function greet(screen: Screen, { model, isScript }: Chosen): void {
  const { paint } = screen;
  screen.line(`${paint.bold('Partner desk')}  ${paint.dim('a demo of Stepline: an agent that can always tell you why')}`);
  if (!isScript) {
    screen.line(`It runs on ${paint.cyan(`${model.provider}/${model.modelId}`)}.`);
    return;
  }
  screen.line(`${paint.yellow('A script answers here, not a model.')} Its tools are real, and so are all decisions.`);
  screen.line(paint.dim('With OPENAI_API_KEY or ANTHROPIC_API_KEY set, a model does; see --help.'));
  screen.line('It understands:');
  for (const example of examples) screen.line(`  ${paint.cyan(example)}`);
}

/** A question to answer without a terminal. */
interface OnceQuestion {
  readonly question?: string;
  readonly log?: boolean;
}

type Asked = Extract<Options, { readonly mode: 'page' | 'chat' | 'once' }>;

const watches = (): boolean => process.stdin.isTTY && process.stdout.isTTY;

async function answerOnce(chosen: Chosen, screen: Screen, { log = false, question: given }: OnceQuestion): Promise<number> {
  const piped = given ?? (process.stdin.isTTY ? undefined : await readPiped(process.stdin));
  screen.line();
  const desk = createDesk(chosen.model);
  if (log) desk.wiretap(createLog());
  return once(piped ?? defaultQuestion, { desk, directory: createDirectory(), screen });
}

async function converse(
  chosen: Chosen,
  screen: Screen,
  { db = usualFile, isNew, log = false }: Extract<Asked, { readonly mode: 'chat' }>,
): Promise<number> {
  const stage = createStage(screen);
  const problems = createProblems(screen);
  const onProblem = (error: unknown): void => {
    stage.pause();
    problems.tell(error);
  };
  const print = log ? createLog(() => stage.pause()) : undefined;
  const onEvent: typeof stage.hear = (event, session) => {
    print?.(event);
    stage.hear(event, session);
  };
  const desks = await createDesks(chosen.model, terminalPaceMs);
  const home = await openHome(db, { desks, adapt: chooseDirectory, onEvent, onProblem });
  await releaseNight(home.runtime);
  screen.line(
    screen.paint.dim(`Commands: ${commands}\nCtrl-C stops an answer; twice leaves. Everything is kept in ${toRelativePath(db)}.`),
  );
  const keyboard = createKeyboard({ input: process.stdin, output: process.stdout });
  const code = await chat({ home, by: whoIsHere(), screen, keyboard, stage, problems }, { isNew });
  await home.close();
  return code;
}

async function talk(options: Asked, screen: Screen): Promise<number> {
  const chosen = await chooseModel(process.env, { offline: options.offline, paceMs: watches() ? terminalPaceMs : 0 });
  // Whoever names a port wants the page, terminal or not.
  if (options.mode === 'page' && (watches() || options.port !== undefined)) return serve(chosen, screen, options);
  greet(screen, chosen);
  if (options.mode === 'chat' && watches()) return converse(chosen, screen, options);
  return answerOnce(chosen, screen, options);
}

async function main(): Promise<number> {
  const screen = createScreen(process.stdout, process.env);
  const options = readOptions(process.argv.slice(2));
  switch (options.mode) {
    case 'wrong':
      process.stderr.write(`${options.problem} Try --help.\n`);
      return 2;
    case 'help':
      screen.line(usage);
      return 0;
    case 'tour':
      await tour(screen);
      return 0;
    case 'page':
    case 'chat':
    case 'once':
      return talk(options, screen);
  }
}

// Whoever reads may leave early, as `head` does.
process.stdout.on('error', (error: NodeJS.ErrnoException) => {
  if (error.code === 'EPIPE') process.exit(0);
  throw error;
});
try {
  process.exitCode = await main();
} catch (error) {
  const isChoice = error instanceof ChoiceError;
  if (!isChoice && !(error instanceof HomeError) && !SteplineError.is(error)) throw error;
  process.stderr.write(`${problemText(error)}\n`);
  process.exitCode = isChoice ? 2 : 1;
}
