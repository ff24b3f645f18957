// The same tests as beside it, over every store.
import './chat.test.ts';
