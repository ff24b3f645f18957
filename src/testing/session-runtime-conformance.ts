import { ConformanceError } from './conformance-error.ts';
import type { ConformanceCase } from './conformance.ts';
import { approvalCases } from './session-runtime/approval-cases.ts';
import { deletionCases } from './session-runtime/deletion-cases.ts';
import { errorCases } from './session-runtime/error-cases.ts';
import { eventCases } from './session-runtime/event-cases.ts';
import { feedCases } from './session-runtime/feed-cases.ts';
import { holdCases } from './session-runtime/hold-cases.ts';
import { killCases } from './session-runtime/kill-cases.ts';
import { listCases } from './session-runtime/list-cases.ts';
import { mailboxCases } from './session-runtime/mailbox-cases.ts';
import { messageCases } from './session-runtime/message-cases.ts';
import { openStepCases } from './session-runtime/open-step-cases.ts';
import { operationCases } from './session-runtime/operation-cases.ts';
import { requestCases } from './session-runtime/request-cases.ts';
import { runningCases } from './session-runtime/running-cases.ts';
import type { RuntimeCase, RuntimeCases } from './session-runtime/runtime-stage.ts';
import { createRuntimeStage } from './session-runtime/runtime-stage.ts';
import type { RuntimeWorldFactory } from './session-runtime/runtime-world.ts';
import { WorldAbility } from './session-runtime/runtime-world.ts';
import { sessionCases } from './session-runtime/session-cases.ts';
import { workerCases } from './session-runtime/worker-cases.ts';

/** A case that some worlds cannot run. */
export interface RuntimeConformanceCase extends ConformanceCase {
  /** Abilities that the case needs and the world does not have. Such a case must be skipped: it fails if it is run. */
  readonly missing: readonly WorldAbility[];
}

const cases: RuntimeCases = {
  ...sessionCases,
  ...listCases,
  ...errorCases,
  ...requestCases,
  ...runningCases,
  ...approvalCases,
  ...killCases,
  ...workerCases,
  ...eventCases,
  ...messageCases,
  ...feedCases,
  ...openStepCases,
  ...mailboxCases,
  ...deletionCases,
  ...holdCases,
  ...operationCases,
};

async function runCase(makeWorld: RuntimeWorldFactory, { options = {}, check }: RuntimeCase): Promise<void> {
  const world = await makeWorld(options);
  try {
    await check(createRuntimeStage(world));
  } finally {
    await world.dispose();
  }
}

/**
 * Promises that every session runtime must keep, wherever its sessions run and are stored. Each case gets a world with nothing in it.
 * `abilities` are those of the worlds that `makeWorld` creates; cases that need others name them in `missing`.
 */
export function sessionRuntimeConformance(
  makeWorld: RuntimeWorldFactory,
  abilities: readonly WorldAbility[] = Object.values(WorldAbility),
): readonly RuntimeConformanceCase[] {
  return Object.entries(cases).map(([name, given]) => {
    const each = typeof given === 'function' ? { check: given } : given;
    const missing = (each.needs ?? []).filter((ability) => !abilities.includes(ability));
    const run = async (): Promise<void> => {
      if (missing.length > 0)
        throw new ConformanceError(`"${name}" was not checked: the world lacks ${missing.join(', ')}. Skip this case.`);
      await runCase(makeWorld, each);
    };
    return { name, missing, run };
  });
}
