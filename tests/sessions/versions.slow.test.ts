// The same tests as beside it, over every store.
import './versions.test.ts';
