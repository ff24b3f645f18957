// The same tests as beside it, over every store.
import './clock-jumps.test.ts';
