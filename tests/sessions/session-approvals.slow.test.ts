// The same tests as beside it, over every store.
import './session-approvals.test.ts';
