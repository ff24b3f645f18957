// The same property as beside it, on 500 random trees of runs.
import './nested-runs.test.ts';
