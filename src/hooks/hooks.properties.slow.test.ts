// The same properties as beside it, on 2,000 random runs each.
import './hooks.properties.test.ts';
