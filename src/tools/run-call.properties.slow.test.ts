// The same property as beside it, on 100,000 random lists of calls.
process.env['STEPLINE_RANDOM_RUNS'] = '100000';
await import('./run-call.properties.test.ts');
