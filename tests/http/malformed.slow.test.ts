// The whole of it: more requests.
import './malformed.test.ts';
