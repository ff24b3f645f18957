import './convert.properties.test.ts';
