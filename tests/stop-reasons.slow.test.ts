// The same tests as beside it, for every subject.
import './stop-reasons.test.ts';
