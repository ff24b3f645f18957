// The same tests as beside it, over every store.
import './people-events.test.ts';
