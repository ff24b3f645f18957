// The same tests as beside it, over every store.
import './bad-input.test.ts';
