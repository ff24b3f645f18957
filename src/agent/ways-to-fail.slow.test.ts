// The same tests as beside it, for every subject.
import './ways-to-fail.test.ts';
