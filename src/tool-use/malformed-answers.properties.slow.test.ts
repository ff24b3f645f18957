// The same property as beside it, on many more answers.
import './malformed-answers.properties.test.ts';
