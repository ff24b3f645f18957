// The same tests as beside it, over every store.
import './collaboration.test.ts';
