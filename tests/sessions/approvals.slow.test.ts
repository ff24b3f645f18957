// The same tests as beside it, over every store.
import './approvals.test.ts';
