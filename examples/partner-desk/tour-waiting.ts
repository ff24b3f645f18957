// Calls that wait for a person: answered at once both ways, and answered from a file.
import { mkdtemp, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { AgentState } from 'stepline';
import { createDirectory } from './partners.ts';
import type { Guide, Scene } from './tour-guide.ts';
import { deskWith } from './tour-guide.ts';
import { counters } from './why.ts';

const openCall = ({ waitingFor }: AgentState): string => waitingFor[0]?.id ?? '';

export const approving: Scene = async ({ note, code, run }) => {
  note('Deleting needs approval. A state is a value, so both answers can be given to the same one.');
  const desk = await deskWith();
  const directory = createDirectory();
  const leads = (): string =>
    directory
      .leads()
      .map(({ lead }) => lead)
      .join(', ');
  const waiting = await run(desk, 'Delete lead 2', directory);
  const id = openCall(waiting);
  code(`agent.start(state.reject('${id}', 'it is still open'))`);
  await run(desk, waiting.reject(id, 'it is still open'), directory);
  note(`Leads: ${leads()}`);
  code(`agent.start(state.approve('${id}'))`);
  await run(desk, waiting.approve(id), directory);
  note(`Leads: ${leads()}`);
};

// Nothing is shared with whoever stored the file: another agent, another model, another directory.
async function resume({ note, code, run }: Guide, file: string): Promise<void> {
  const desk = await deskWith();
  const state = desk.restore(JSON.parse(await readFile(file, 'utf8')));
  note(`Read by a new agent:      ${counters(state)}`);
  const id = openCall(state);
  code(`agent.start(agent.restore(JSON.parse(text)).approve('${id}'))`);
  const done = await run(desk, state.approve(id));
  note(`After the approval:       ${counters(done)}`);
}

export const storing: Scene = async (guide) => {
  const { note, run } = guide;
  note('A run that waits is stored as JSON and taken up by an agent that has never seen it. The counters go on.');
  const folder = await mkdtemp(join(tmpdir(), 'partner-desk-'));
  const file = join(folder, 'state.json');
  try {
    const waiting = await run(await deskWith(), 'Delete the lead of Vela');
    await writeFile(file, JSON.stringify(waiting));
    note(`Stored in ${file}, ${(await stat(file)).size} bytes`);
    note(`Before it was stored:     ${counters(waiting)}`);
    await resume(guide, file);
  } finally {
    await rm(folder, { recursive: true });
  }
};
