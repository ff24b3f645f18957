// The same property as beside it, on 100,000 random lists of calls.
import './run-call.properties.test.ts';
