// Lets another process find the package in the sources, so that nothing has to be built.
const folder = new URL('../../src/entry/', import.meta.url).href;

/** Code for `--import` that resolves the package to the sources. */
export const sourcePreload = `
import { registerHooks } from 'node:module';
const source = (name) => new URL((name === 'stepline' ? 'index' : name.slice('stepline/'.length)) + '.ts', '${folder}').href;
registerHooks({ resolve: (name, context, next) => next(/^stepline(?:$|[/])/.test(name) ? source(name) : name, context) });
`;

/** Returns code as an address that `--import` takes. */
export const toImport = (text: string): string => `data:text/javascript,${encodeURIComponent(text)}`;
