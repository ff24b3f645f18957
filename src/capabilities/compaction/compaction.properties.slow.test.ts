// The same property as beside it, on 20,000 random conversations.
import './compaction.properties.test.ts';
