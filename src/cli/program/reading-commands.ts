// Commands that read.
import type { Command } from 'commander';
import { Option } from 'commander';
import { StopReason } from '../../continuation/index.ts';
import { omitUndefined } from '../../lib/index.ts';
import type { SessionQuery } from '../../sessions/index.ts';
import { ExecutionStatus } from '../../step-by-step/index.ts';
import type { EventsOptions } from '../commands/events.ts';
import { printEvents } from '../commands/events.ts';
import { listSessions } from '../commands/sessions.ts';
import type { ShowOptions } from '../commands/show.ts';
import { show } from '../commands/show.ts';
import { listWaits } from '../commands/waits.ts';
import type { WhyOptions } from '../commands/why.ts';
import { why } from '../commands/why.ts';
import type { Program } from './cli-command.ts';
import { addCommand, readOptions, runOnStore } from './cli-command.ts';
import { parseCount, parseIndex } from './parse-values.ts';

interface FilterOptions extends Omit<SessionQuery, 'agentName'> {
  readonly agent?: string;
}

const toQuery = ({ agent: agentName, tenant, owner, status, stopReason, tag, limit, cursor }: FilterOptions): SessionQuery =>
  omitUndefined({ agentName, tenant, owner, status, stopReason, tag, limit, cursor });

const withFilters = (command: Command): Command =>
  command
    .option('--tenant <tenant>', 'only sessions of this tenant')
    .option('--owner <owner>', 'only sessions of this owner')
    .option('--agent <id>', 'only sessions of this agent')
    .option('--tag <tag>', 'only sessions with this tag')
    .option('--limit <n>', 'maximum number of sessions', parseCount, 50)
    .option('--cursor <cursor>', 'continue after the page before');

function addWhy(program: Program): void {
  addCommand(program, 'why <session...>', {
    about: 'explain why a session stopped or waits',
    examples: ['stepline why 3f2b9c', 'stepline why 3f2b9c --trace', 'stepline why 3f2b9c 81aa07 --json'],
  })
    .option('--trace', 'all evaluations of every step; * marks the one that decided')
    .action((sessions: readonly string[], _options: unknown, command: Command) =>
      runOnStore(program, command, (context) => why(context, sessions, readOptions<WhyOptions>(command))),
    );
}

function addSessions(program: Program): void {
  const command = addCommand(program, 'sessions', {
    about: 'list sessions, newest first',
    examples: ['stepline sessions --status waiting', 'stepline sessions --tenant acme --stop-reason steps_limit'],
  });
  withFilters(command)
    .addOption(new Option('--status <status>', 'only sessions with this status').choices(Object.values(ExecutionStatus)))
    .addOption(new Option('--stop-reason <reason>', 'only sessions that stopped for this reason').choices(Object.values(StopReason)))
    .action(() => runOnStore(program, command, (context) => listSessions(context, toQuery(readOptions<FilterOptions>(command)))));
}

function addShow(program: Program): void {
  addCommand(program, 'show <session>', {
    about: 'show the facts, status, waits, mailbox and newest messages of a session',
    examples: ['stepline show 3f2b9c', 'stepline show 3f2b9c --messages 100 --reveal'],
  })
    .option('--messages <n>', 'number of messages', parseIndex, 10)
    .action((session: string, _options: unknown, command: Command) =>
      runOnStore(program, command, (context) => show(context, session, readOptions<ShowOptions>(command))),
    );
}

function addEvents(program: Program): void {
  addCommand(program, 'events <session>', {
    about: 'print the stored events of a session, a line each',
    examples: ['stepline events 3f2b9c --follow', 'stepline events 3f2b9c --from 120 --json'],
  })
    .option('-f, --follow', 'continue with events that are stored later')
    .option('-a, --all', 'print also the events that repeat what others say')
    .option('--from <seq>', 'number of the first event', parseCount, 1)
    .action((session: string, _options: unknown, command: Command) =>
      runOnStore(program, command, (context) => printEvents(context, session, readOptions<EventsOptions>(command))),
    );
}

function addWaits(program: Program): void {
  const command = addCommand(program, 'waits', {
    about: 'list everything that waits for somebody, with the command that answers it',
    examples: ['stepline waits', 'stepline waits --tenant acme --json'],
  });
  withFilters(command).action(() =>
    runOnStore(program, command, (context) => listWaits(context, toQuery(readOptions<FilterOptions>(command)))),
  );
}

/** Adds the commands that read. */
export function addReadingCommands(program: Program): void {
  for (const add of [addWhy, addSessions, addShow, addEvents, addWaits]) add(program);
}
