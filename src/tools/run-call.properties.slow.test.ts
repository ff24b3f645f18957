// The same property as beside it, on 50,000 random lists of calls.
import './run-call.properties.test.ts';
