// The same tests as beside it, for every way to keep a state.
import './week-of-pause.test.ts';
