// The same properties as beside it, on 1,000 random states each.
import './slim.properties.test.ts';
