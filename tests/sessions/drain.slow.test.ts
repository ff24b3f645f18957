// The same tests as beside it, over every store.
import './drain.test.ts';
