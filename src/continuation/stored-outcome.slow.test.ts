// The same properties as beside it, on 10,000 random outcomes.
import './stored-outcome.test.ts';
