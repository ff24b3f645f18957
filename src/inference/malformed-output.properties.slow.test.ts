// The same properties as beside it, on 100,000 random answers.
import './malformed-output.properties.test.ts';
