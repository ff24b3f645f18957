// The same properties as beside it, on 50,000 random answers.
import './malformed-output.properties.test.ts';
