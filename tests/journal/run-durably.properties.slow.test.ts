// The property of run-durably.properties.test.ts, on a thousand plans.
import './run-durably.properties.test.ts';
