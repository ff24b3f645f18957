// The table of faults.
import type { Fault } from './fault.ts';
import { failureFaults } from './rows/failures.ts';
import { hookFaults } from './rows/hooks.ts';
import { limitFaults } from './rows/limits.ts';
import { stopFaults } from './rows/stops.ts';

export const faults: readonly Fault[] = [...limitFaults, ...failureFaults, ...hookFaults, ...stopFaults];
