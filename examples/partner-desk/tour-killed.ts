// A conversation in SQLite whose process is killed at the worst moment: the tool has done its work, and nobody knows it yet.
import { spawnSync } from 'node:child_process';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { Home } from './home.ts';
import { openHome } from './home.ts';
import { createDirectory } from './partners.ts';
import { createProblems } from './problems.ts';
import { label } from './screen.ts';
import { createStage } from './stage.ts';
import { getState } from './stored.ts';
import type { Guide, Scene } from './tour-guide.ts';
import { deskWith } from './tour-guide.ts';
import { showWhy } from './why.ts';

const victim = fileURLToPath(new URL('tour-victim.ts', import.meta.url));
const question = 'Create a lead for Nordwind in program Growth';
const by = { id: 'the tour', kind: 'user' };

const numbers = (leads: ReturnType<Home['directory']['leads']>): string => leads.map(({ lead }) => lead).join(', ');

function leadsIn(file: string): string {
  const directory = createDirectory(`${file}.partners`);
  const leads = numbers(directory.leads());
  directory.close();
  return leads;
}

async function goOn({ screen, note, code }: Guide, file: string): Promise<void> {
  code('createSessionRuntime({ agents: [desk], store: sqliteStore({ path }) })');
  const stage = createStage(screen);
  const home = await openHome(file, { desks: [await deskWith()], onEvent: stage.hear, onProblem: createProblems(screen).tell });
  const [interrupted = ''] = home.recovery.resumed;
  stage.watch(interrupted);
  await home.runtime.resume(interrupted, { by });
  stage.end();
  showWhy(screen, getState(await home.runtime.get(interrupted)));
  note(`Leads: ${numbers(home.directory.leads())}`);
  await home.close();
}

export const surviving: Scene = async (guide) => {
  const { screen, note, code } = guide;
  note('A process keeps its conversation in SQLite. It is killed when the tool has made the lead, before its result is known.');
  note('The next one finds the conversation and goes on. It does not make the lead again: the tool looks for the key of the call.');
  const folder = await mkdtemp(join(tmpdir(), 'partner-desk-'));
  const file = join(folder, 'desk.db');
  try {
    screen.line(`${label(screen, 'you')}${question}`);
    code("process.kill(process.pid, 'SIGKILL')");
    const { signal, stderr } = spawnSync(process.execPath, [victim, file, question], { encoding: 'utf8' });
    if (signal === null) throw new Error(`The process was not killed: ${stderr}`);
    note(`It ended by ${signal}. Leads: ${leadsIn(file)}`);
    await goOn(guide, file);
  } finally {
    await rm(folder, { recursive: true });
  }
};
