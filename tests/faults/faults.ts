// The table of faults.
import type { Fault } from './fault.ts';
import { capabilityFaults } from './rows/capabilities.ts';
import { chatFaults, collaborationFaults } from './rows/chats.ts';
import { crashFaults } from './rows/crashes.ts';
import { failureFaults } from './rows/failures.ts';
import { hookFaults } from './rows/hooks.ts';
import { limitFaults } from './rows/limits.ts';
import { peopleFaults } from './rows/people.ts';
import { providerFaults } from './rows/providers.ts';
import { stopFaults } from './rows/stops.ts';

export const faults: readonly Fault[] = [
  ...limitFaults,
  ...failureFaults,
  ...providerFaults,
  ...hookFaults,
  ...stopFaults,
  ...capabilityFaults,
  ...chatFaults,
  ...collaborationFaults,
  ...peopleFaults,
  ...crashFaults,
];
