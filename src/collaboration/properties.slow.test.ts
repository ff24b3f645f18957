// The same properties as beside it, on 500 random collaborations each.
import './properties.test.ts';
