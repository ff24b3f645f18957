// The same property as beside it, on a thousand plans.
import './run-durably.properties.test.ts';
