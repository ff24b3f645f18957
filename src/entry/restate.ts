export { restateEngine } from '../journal/restate/index.ts';
