// The same tests as beside it, over every store.
import './open-step.test.ts';
