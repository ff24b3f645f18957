// The same tests as beside it, under every policy.
import './misbehaving-hooks.test.ts';
