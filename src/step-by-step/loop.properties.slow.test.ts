// The same property as beside it, on 50,000 random runs.
import './loop.properties.test.ts';
