import { expect, test } from 'vitest';
import type { SessionWait } from '../../sessions/index.ts';
import { toAnswerCommand } from './describe-wait.ts';

// Holds: the command needs no other fields.
const toWait = (fields: object): SessionWait => ({ sessionId: 's', id: 'w', digest: 'd', ...fields }) as SessionWait;

test.each([
  [{ type: 'approval', toolName: 'pay' }, 'stepline approve s w --digest d'],
  [{ type: 'client-tool', toolName: 'ask' }, 'stepline answer s w --value <json>'],
  [{ type: 'person', participant: 'boss' }, 'stepline answer s w --value <json>'],
  [{ type: 'person', reason: 'crash-loop', attempts: 3 }, 'stepline resume s'],
  [{ type: 'provider', reason: 'down' }, 'stepline resume s'],
  [{ type: 'grant', limit: 'steps' }, 'stepline grant s --steps <n>'],
  [{ type: 'grant', limit: 'wall' }, 'stepline grant s --wall-ms <n>'],
])('%j is answered by the command that the worker accepts', (fields, command) => {
  expect(toAnswerCommand(toWait(fields))).toBe(command);
});

test('an id that a shell would split is quoted', () => {
  expect(toAnswerCommand(toWait({ sessionId: "ann's one", type: 'provider' }))).toBe("stepline resume 'ann'\\''s one'");
});
