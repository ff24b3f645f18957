// The partner desk: npm start. See --help.
import { chat, commands } from './chat.ts';
import type { Chosen } from './choose-model.ts';
import { ChoiceError, chooseModel } from './choose-model.ts';
import { createDesk } from './desk.ts';
import { createKeyboard } from './keyboard.ts';
import { defaultQuestion, once } from './once.ts';
import type { Options } from './options.ts';
import { readOptions, usage } from './options.ts';
import { createDirectory } from './partners.ts';
import type { Screen } from './screen.ts';
import { createScreen } from './screen.ts';
import { examples } from './sentences.ts';
import { tour } from './tour.ts';

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

type Asked = Extract<Options, { readonly offline: boolean }>;

async function talk(options: Asked, screen: Screen): Promise<number> {
  const isTerminal = process.stdin.isTTY && process.stdout.isTTY;
  const chosen = await chooseModel(process.env, { offline: options.offline, paced: isTerminal });
  const desk = createDesk(chosen.model);
  const directory = createDirectory();
  greet(screen, chosen);
  if (options.mode === 'once' || !isTerminal) {
    const { question = defaultQuestion } = options.mode === 'once' ? options : {};
    screen.line();
    return once(question, { desk, directory, screen });
  }
  screen.line(screen.paint.dim(`Commands: ${commands}\nCtrl-C stops an answer; twice leaves.`));
  const keyboard = createKeyboard({ input: process.stdin, output: process.stdout });
  await chat({ desk, directory, screen, keyboard });
  return 0;
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
  if (!(error instanceof ChoiceError)) throw error;
  process.stderr.write(`${error.message}\n`);
  process.exitCode = 2;
}
