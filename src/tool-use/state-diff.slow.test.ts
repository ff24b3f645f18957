// The same property as beside it, on 1,000 random runs.
import './state-diff.test.ts';
