// The same tests as beside it, over every store.
import './list-and-get.test.ts';
