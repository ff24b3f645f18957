// The same tests as beside it, with more random runs.
import './broken-text.test.ts';
