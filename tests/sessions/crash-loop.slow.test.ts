// The same tests as beside it, over every store.
import './crash-loop.test.ts';
