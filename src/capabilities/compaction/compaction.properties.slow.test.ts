// The same property as beside it, on 50,000 random conversations.
process.env['STEPLINE_RANDOM_RUNS'] = '50000';
await import('./compaction.properties.test.ts');
