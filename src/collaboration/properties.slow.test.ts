// The same properties as beside it, on 300 random collaborations each.
import './properties.test.ts';
