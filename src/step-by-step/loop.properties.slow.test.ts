// The same property as beside it, on 20,000 random runs.
import './loop.properties.test.ts';
