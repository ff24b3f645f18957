// The same properties as beside it, on 100,000 random answers.
process.env['STEPLINE_RANDOM_RUNS'] = '100000';
await import('./malformed-output.properties.test.ts');
