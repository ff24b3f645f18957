// The same tests as beside it, over every store.
import './fork.test.ts';
