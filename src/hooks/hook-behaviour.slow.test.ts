// The same tests as beside it, for every subject.
import './hook-behaviour.test.ts';
