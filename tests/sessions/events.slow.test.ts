// The same tests as beside it, over every store.
import './events.test.ts';
