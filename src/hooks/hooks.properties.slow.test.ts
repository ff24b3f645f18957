// The same properties as beside it, on 10,000 random runs each.
process.env['STEPLINE_RANDOM_RUNS'] = '10000';
await import('./hooks.properties.test.ts');
