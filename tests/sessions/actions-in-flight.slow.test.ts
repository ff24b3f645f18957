// The same tests as beside it, over every store.
import './actions-in-flight.test.ts';
