// The same property as beside it, on 500 random loads.
import './with-model-limits.test.ts';
