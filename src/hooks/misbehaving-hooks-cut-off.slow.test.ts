// The same tests as beside it, under every policy.
import './misbehaving-hooks-cut-off.test.ts';
