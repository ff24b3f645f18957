// The same properties as beside it, on 5,000 random runs each.
import './hooks.properties.test.ts';
