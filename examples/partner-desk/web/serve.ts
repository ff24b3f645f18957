// npm start: serves the page until somebody ends it.
import { systemClock } from 'stepline/step-by-step';
import type { Chosen } from '../choose-model.ts';
import { usualFile } from '../home.ts';
import type { Options } from '../options.ts';
import { toRelativePath } from '../relative-path.ts';
import type { Screen } from '../screen.ts';
import { showProblem } from '../screen.ts';
import { ChildFailedError } from './keeper.ts';
import type { Supervisor } from './supervisor.ts';
import { createSupervisor } from './supervisor.ts';
import { untilEnd } from './until-end.ts';

const usualPort = 4747;

type PageOptions = Extract<Options, { readonly mode: 'page' }>;

const isPortTaken = (error: unknown): boolean => error instanceof ChildFailedError && error.reason === 'port-taken';

/** Settles with the port. One that was asked for is used, or nothing is. */
async function openPort(supervisor: Supervisor, port: number | undefined): Promise<number> {
  try {
    return await supervisor.startWeb(port ?? usualPort);
  } catch (error) {
    if (!isPortTaken(error)) throw error;
    if (port === undefined) return supervisor.startWeb(0);
    throw new ChildFailedError({ reason: 'port-taken', message: `Port ${port} is taken. Choose another with --port, or leave it out.` });
  }
}

function greet(
  screen: Screen,
  { model, isScript }: Chosen,
  facts: { readonly port: number; readonly isOther: boolean; readonly db: string },
): void {
  const { paint } = screen;
  const { port, isOther, db } = facts;
  screen.line(`${paint.bold('Partner desk:')} ${paint.cyan(`http://localhost:${port}`)}`);
  if (isOther) screen.line(`Port ${usualPort} is taken, so this is another one.`);
  screen.line(
    isScript
      ? 'A script answers here, not a model. Its tools are real, and so are all decisions.'
      : `It runs on ${model.provider}/${model.modelId}.`,
  );
  screen.line('Open the address and press "Take the tour"; or ask "Who is in Berlin?", and read Why beside the answer.');
  screen.line(paint.dim(`Everything is kept in ${toRelativePath(db)}. Ctrl-C ends it; npm start -- --help lists the options.`));
}

/** Serves the page until Ctrl-C. Returns the exit code. */
export async function serve(chosen: Chosen, screen: Screen, options: PageOptions): Promise<number> {
  const { db = usualFile, offline, log = false, port } = options;
  const print = (line: string): void => screen.line(screen.paint.dim(line));
  const end = untilEnd();
  const supervisor = createSupervisor({ db, offline, log, clock: systemClock, print });
  try {
    await supervisor.startWorkers();
    const found = await openPort(supervisor, port);
    greet(screen, chosen, { port: found, isOther: port === undefined && found !== usualPort, db });
    await end;
    return 0;
  } catch (error) {
    if (!(error instanceof ChildFailedError)) throw error;
    showProblem(screen, error.message);
    return 1;
  } finally {
    await supervisor.stop();
  }
}
