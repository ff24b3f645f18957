// The same streams as beside it, each cut after every event.
import './cut-streams.test.ts';
