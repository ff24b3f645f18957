// Commands that act on a session.
import { omitUndefined } from '../../lib/index.ts';
import type { Grant } from '../../step-by-step/index.ts';
import type { ApproveOptions } from '../commands/answer.ts';
import { answer, approve, reject } from '../commands/answer.ts';
import type { DeleteOptions } from '../commands/delete.ts';
import { deleteSession } from '../commands/delete.ts';
import { cancel, grant, resume } from '../commands/execution.ts';
import { usageError } from '../failures.ts';
import type { Program } from './cli-command.ts';
import { addCommand, readOptions, runOnStore, withWaiting } from './cli-command.ts';
import { parseAmount, parseCount, parseJson } from './parse-values.ts';

const digestText = 'digest of what was shown, from waits or show';

function addApprove(program: Program): void {
  const command = addCommand(program, 'approve <session> <wait>', {
    about: 'approve a call: exactly the one that was shown',
    examples: [
      'stepline approve 3f2b9c call-1                    # shows the call in full and asks',
      'stepline approve 3f2b9c call-1 --digest 9f86d0…   # the call that was shown with this digest',
      `stepline approve 3f2b9c call-1 --yes --args '{"amount": 5}'`,
    ],
  })
    .option('--digest <digest>', digestText)
    .option('--args <json>', 'call the tool with these arguments instead', parseJson)
    .option('--yes', 'approve what is shown, without asking');
  withWaiting(command, parseAmount).action((sessionId: string, waitId: string) =>
    runOnStore(program, command, (context) => approve(context, { sessionId, waitId }, readOptions<ApproveOptions>(command))),
  );
}

function addReject(program: Program): void {
  const command = addCommand(program, 'reject <session> <wait>', {
    about: 'reject a call; the model reads the reason',
    examples: ['stepline reject 3f2b9c call-1 --reason "above the limit of this customer"'],
  })
    .requiredOption('--reason <text>', 'reason that the model reads')
    .option('--digest <digest>', digestText);
  withWaiting(command, parseAmount).action((sessionId: string, waitId: string) =>
    runOnStore(program, command, (context) => reject(context, { sessionId, waitId }, readOptions<{ readonly reason: string }>(command))),
  );
}

function addAnswer(program: Program): void {
  const command = addCommand(program, 'answer <session> <wait>', {
    about: "answer a wait: the output of a client tool, a call's true result, a person's words",
    examples: [`stepline answer 3f2b9c call-2 --value '{"status": "paid"}'`, `stepline answer 3f2b9c ask-1 --value '"Tuesday will do."'`],
  })
    .requiredOption('--value <json>', 'the answer', parseJson)
    .option('--digest <digest>', digestText);
  withWaiting(command, parseAmount).action((sessionId: string, waitId: string) =>
    runOnStore(program, command, (context) => answer(context, { sessionId, waitId }, readOptions<{ readonly value: unknown }>(command))),
  );
}

function addGrant(program: Program): void {
  const command = addCommand(program, 'grant <session>', {
    about: 'raise the limits of the execution that runs or waits',
    examples: ['stepline grant 3f2b9c --steps 10 --tokens 50000'],
  })
    .option('--steps <n>', 'more steps', parseCount)
    .option('--tokens <n>', 'more tokens', parseCount)
    .option('--wall-ms <ms>', 'more time on the wall clock', parseAmount)
    .option('--active-ms <ms>', 'more active time', parseAmount)
    .option('--cost-usd <usd>', 'more money', parseAmount);
  withWaiting(command, parseAmount).action((sessionId: string) => {
    const { steps, tokens, wallMs, activeMs, costUsd } = readOptions<Grant>(command);
    const amounts: Grant = omitUndefined({ steps, tokens, wallMs, activeMs, costUsd });
    if (Object.keys(amounts).length === 0) throw usageError('Grant what? Pass --steps, --tokens, --wall-ms, --active-ms or --cost-usd.');
    return runOnStore(program, command, (context) => grant(context, sessionId, amounts));
  });
}

function addCancel(program: Program): void {
  const command = addCommand(program, 'cancel <session>', {
    about: 'end the execution that runs or waits',
    examples: ['stepline cancel 3f2b9c --reason "the customer called it off"'],
  }).requiredOption('--reason <text>', 'reason that is stored');
  withWaiting(command, parseAmount).action((sessionId: string) =>
    runOnStore(program, command, (context) => cancel(context, sessionId, readOptions<{ readonly reason: string }>(command).reason)),
  );
}

function addResume(program: Program): void {
  const command = addCommand(program, 'resume <session>', {
    about: 'resume a session after a crash loop, or try its provider again now',
    examples: ['stepline resume 3f2b9c'],
  });
  withWaiting(command, parseAmount).action((sessionId: string) => runOnStore(program, command, (context) => resume(context, sessionId)));
}

function addDelete(program: Program): void {
  const command = addCommand(program, 'delete <session>', {
    about: 'delete a session for good; its id is not used again',
    examples: ['stepline delete 3f2b9c --forks --yes'],
  })
    .option('--forks', 'delete the sessions that were forked from it too')
    .option('--yes', 'delete without asking');
  command.action((sessionId: string) =>
    runOnStore(program, command, (context) => deleteSession(context, sessionId, readOptions<DeleteOptions>(command))),
  );
}

/** Adds the commands that act on a session. */
export function addActionCommands(program: Program): void {
  for (const add of [addApprove, addReject, addAnswer, addGrant, addCancel, addResume, addDelete]) add(program);
}
