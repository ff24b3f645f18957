// The same property as beside it, on 50,000 random conversations.
import './compaction.properties.test.ts';
