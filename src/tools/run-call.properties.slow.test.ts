// The same property as beside it, on 20,000 random lists of calls.
import './run-call.properties.test.ts';
