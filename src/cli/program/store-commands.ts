// Commands about a whole store.
import { omitUndefined } from '../../lib/index.ts';
import { copy } from '../commands/copy.ts';
import { doctor, reportNoStore } from '../commands/doctor.ts';
import { hold, listHolds, release } from '../commands/holds.ts';
import { listWorkers } from '../commands/workers.ts';
import { createOutput } from '../create-output.ts';
import { ExitCode } from '../exit-code.ts';
import { CommandFailedError } from '../command-failed-error.ts';
import { describeLocation, parseLocation } from '../store/locate-store.ts';
import { openStore } from '../store/open-store.ts';
import type { GlobalOptions } from '../with-store.ts';
import { findLocation, getAuthor, withOpened } from '../with-store.ts';
import type { Program } from './cli-command.ts';
import { addCommand, readOptions, runOnStore } from './cli-command.ts';

function addHolds(program: Program): void {
  const held = addCommand(program, 'hold', {
    about: 'keep sessions from starting model calls, in every process',
    examples: ['stepline hold --reason "the provider bills twice"', 'stepline hold --tenant acme --reason "unpaid"'],
  })
    .requiredOption('--reason <text>', 'reason that holds shows')
    .option('--tenant <tenant>', 'only sessions of this tenant')
    .option('--agent <id>', 'only sessions of this agent');
  held.action(() => {
    const { tenant, agent, reason } = readOptions<{ readonly tenant?: string; readonly agent?: string; readonly reason: string }>(held);
    return runOnStore(program, held, (context) => hold(context, omitUndefined({ tenant, agent }), reason));
  });
  const released = addCommand(program, 'release <hold>', { about: 'release a hold', examples: ['stepline release 5d0c41'] });
  released.action((id: string) => runOnStore(program, released, (context) => release(context, id)));
  const listed = addCommand(program, 'holds', { about: 'list all holds', examples: ['stepline holds --json'] });
  listed.action(() => runOnStore(program, listed, (context) => listHolds(context)));
}

interface CopyOptions extends GlobalOptions {
  readonly from: string;
  readonly to: string;
  readonly force?: boolean;
}

async function runCopy({ host, end }: Program, options: CopyOptions): Promise<void> {
  const [from, to] = [parseLocation(options.from, options.schema), parseLocation(options.to, options.schema)];
  const { store: source } = await openStore(from, host);
  try {
    const { store: target } = await openStore(to, { cwd: host.cwd, creates: true });
    try {
      const { clock } = host;
      const context = { source, target, output: createOutput(host, options), by: getAuthor(host, options), clock };
      end(await copy(context, { from: describeLocation(from), force: options.force === true }));
    } finally {
      await target.close();
    }
  } finally {
    await source.close();
  }
}

function addCopy(program: Program): void {
  const command = addCommand(program, 'copy', {
    about: 'copy all sessions, effects, holds and actions into another store, and compare them',
    examples: [
      'stepline copy --from sessions.db --to postgres://localhost/app',
      'stepline copy --from postgres://localhost/app --schema stepline --to backup.db',
    ],
  })
    .requiredOption('--from <db>', 'store to copy: a file or a Postgres URL')
    .requiredOption('--to <db>', 'store to copy into; created if there is none')
    .option('--force', 'copy into a store that has sessions');
  command.action(() => runCopy(program, readOptions<CopyOptions>(command)));
}

function addWorkers(program: Program): void {
  const command = addCommand(program, 'workers', {
    about: 'list the workers: who runs what, and whether it lives',
    examples: ['stepline workers', 'stepline workers --json'],
  });
  command.action(() => runOnStore(program, command, (context) => listWorkers(context)));
}

async function runDoctor({ host, end }: Program, options: GlobalOptions & { readonly deep?: boolean }): Promise<void> {
  const location = findLocation(host, options);
  const place = describeLocation(location);
  try {
    const opened = await openStore(location, host);
    end(
      await withOpened(host, { options, opened }, (context) =>
        doctor(context, { place, facts: opened.facts, deep: options.deep === true }),
      ),
    );
  } catch (error) {
    if (!(error instanceof CommandFailedError) || error.exitCode !== ExitCode.Unavailable) throw error;
    end(reportNoStore({ output: createOutput(host, options) }, { place, facts: { type: 'missing', problem: error.message } }));
  }
}

function addDoctor(program: Program): void {
  const command = addCommand(program, 'doctor', {
    about: 'check a store: schema, workers, damage, mailbox, open steps; exits with 1 if something is wrong',
    examples: ['stepline doctor', 'stepline doctor --deep --json'],
  }).option('--deep', 'read every session, not only the list');
  command.action(() => runDoctor(program, readOptions<{ readonly deep?: boolean }>(command)));
}

/** Adds the commands about a whole store. */
export function addStoreCommands(program: Program): void {
  for (const add of [addWorkers, addHolds, addCopy, addDoctor]) add(program);
}
