// What the compiler says about mistakes of the first day. It is slow: it compiles.
import { dirname } from 'node:path';
import { fileURLToPath } from 'node:url';
import ts from 'typescript';
import { expect, test } from 'vitest';

const root = dirname(dirname(fileURLToPath(import.meta.url)));

/** Compiles a source as if it stood in this folder, and returns its errors. */
function compile(source: string): readonly string[] {
  const file = `${root}/tests/compiled-source.ts`;
  const { config } = ts.readConfigFile(`${root}/tsconfig.json`, (path) => ts.sys.readFile(path)) as { readonly config: object };
  const { options } = ts.parseJsonConfigFileContent({ ...config, include: [], files: [file] }, ts.sys, root);
  const host = ts.createCompilerHost(options);
  const readFromDisk = host.getSourceFile.bind(host);
  host.getSourceFile = (name, languageVersion, ...rest) =>
    name === file ? ts.createSourceFile(name, source, languageVersion) : readFromDisk(name, languageVersion, ...rest);
  const program = ts.createProgram([file], options, host);
  return program
    .getSemanticDiagnostics(program.getSourceFile(file))
    .map(({ messageText }) => ts.flattenDiagnosticMessageText(messageText, '\n'));
}

const imports = `
  import { z } from 'zod';
  import { createAgent, defineClientTool, defineTool } from '../src/entry/index.ts';
  import { scriptedModel } from '../src/entry/testing.ts';
  const named = { name: 'pay', description: 'Pays.' };
`;

test('fields of zod that are not wrapped are told to be wrapped, one error for each place', () => {
  const errors = compile(`${imports}
    defineTool({ ...named, input: { order: z.number() }, run: () => 1 });
    defineTool({ ...named, input: z.object({}), output: { order: z.number() }, run: () => 1 });
    defineClientTool({ ...named, input: { order: z.number() } });
    createAgent({ model: scriptedModel(['Hello.']), output: { order: z.number() } });
  `);
  expect(errors).toHaveLength(4);
  for (const error of errors) expect(error).toContain('WrapItIn<"z.object({ … })">');
});

test('what is right compiles', () => {
  const errors = compile(`${imports}
    defineTool({ ...named, input: z.object({ order: z.number() }), run: ({ order }) => order.toFixed(2) });
    defineTool({ ...named, input: { type: 'object', properties: { order: { type: 'number' } } }, run: ({ order = 0 }) => order.toFixed(2) });
  `);
  expect(errors).toEqual([]);
});
