// The same property as beside it, on 100,000 random runs.
process.env['STEPLINE_RANDOM_RUNS'] = '100000';
await import('./loop.properties.test.ts');
