// The same properties as beside it, on 10,000 random texts each.
import './json-scanner.test.ts';
