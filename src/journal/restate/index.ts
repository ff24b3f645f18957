export { restateEngine } from './restate-engine.ts';
