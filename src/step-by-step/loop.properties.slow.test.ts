// The same property as beside it, on 100,000 random runs.
import './loop.properties.test.ts';
