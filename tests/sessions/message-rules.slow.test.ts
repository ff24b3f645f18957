// The same tests as beside it, over every store.
import './message-rules.test.ts';
