import js from '@eslint/js';
import { defineConfig, globalIgnores } from 'eslint/config';
import tseslint from 'typescript-eslint';
import table from './scripts/floors.cjs';
import { plainWords } from './scripts/plain-words.mjs';

const testFiles = ['**/*.test.{ts,tsx}', '**/*.test-d.ts', '**/*.examples.ts'];
const adapterFiles = table.modules.flatMap(({ name, adapters }) => adapters.map((adapter) => `src/${name}/${adapter}/**`));

const shape = [
  { selector: 'ExportAllDeclaration', message: 'List the names one by one.' },
  { selector: 'ExportDefaultDeclaration', message: 'Export by name.' },
  { selector: 'TSEnumDeclaration', message: 'Use an `as const` object with a type of the same name.' },
];
const useClock = 'Take a Clock as an argument; the machine’s own is in src/lib.';
const useIds = 'Take an IdSource as an argument; the machine’s own is in src/lib.';

export default defineConfig(
  // The last of these need packages that only `npm run test:postgres`, `test:engines`, `test:browser`, `docs:peers` and `bench:peers` install.
  globalIgnores([
    ...['**/dist/', 'coverage/', '**/.cache/', 'tests/postgres/pool-types.test-d.ts', 'tests/browser/playwright-types.test-d.ts'],
    ...['tests/engines/', 'tests/browser/next-app/', 'site/peers/scripted/', 'bench/peers/contenders/{openai-agents,langgraph}.ts'],
  ]),
  { linterOptions: { reportUnusedDisableDirectives: 'error' } },
  js.configs.recommended,
  tseslint.configs.strictTypeChecked,
  {
    languageOptions: { parserOptions: { projectService: true, tsconfigRootDir: import.meta.dirname } },
    rules: {
      eqeqeq: 'error',
      'no-restricted-syntax': ['error', ...shape],
      '@typescript-eslint/consistent-type-exports': 'error',
      '@typescript-eslint/consistent-type-imports': 'error',
      // Static methods here never use `this`.
      '@typescript-eslint/unbound-method': ['error', { ignoreStatic: true }],
      '@typescript-eslint/max-params': ['error', { max: 3 }],
      '@typescript-eslint/no-unused-vars': ['error', { argsIgnorePattern: '^_', ignoreRestSiblings: true }],
      '@typescript-eslint/switch-exhaustiveness-check': [
        'error',
        { requireDefaultForNonUnion: true, considerDefaultExhaustiveForUnions: true },
      ],

      // What the strict set says too loudly for honest code.
      '@typescript-eslint/no-confusing-void-expression': ['error', { ignoreArrowShorthand: true }],
      '@typescript-eslint/no-extraneous-class': ['error', { allowStaticOnly: true }],
      // `new This({ ...this, changed })` is how an immutable class makes its next value.
      '@typescript-eslint/no-misused-spread': 'off',
      '@typescript-eslint/no-unnecessary-condition': ['error', { allowConstantLoopConditions: 'only-allowed-literals' }],
      '@typescript-eslint/no-unnecessary-type-parameters': 'off',
      '@typescript-eslint/only-throw-error': ['error', { allowThrowingUnknown: true }],
      '@typescript-eslint/prefer-promise-reject-errors': ['error', { allowThrowingUnknown: true }],
      '@typescript-eslint/require-await': 'off',
      '@typescript-eslint/restrict-template-expressions': [
        'error',
        { allowNumber: true, allowBoolean: true, allowAny: false, allowNullish: false, allowRegExp: false },
      ],
    },
  },
  {
    name: 'plain English',
    plugins: { 'plain-words': plainWords },
    rules: { 'plain-words/function-names': 'error', 'plain-words/comments': 'error' },
  },
  {
    name: 'what ships',
    files: ['src/**/*.ts'],
    ignores: [...testFiles, 'src/cli/**'],
    rules: { 'no-console': 'error', '@typescript-eslint/explicit-module-boundary-types': 'error' },
  },
  {
    name: 'the core: web-standard APIs only',
    files: ['src/**/*.ts'],
    ignores: [...testFiles, ...adapterFiles, 'src/cli/**'],
    rules: {
      'no-restricted-globals': ['error', 'process', 'Buffer', 'global', '__dirname', '__filename', 'require', 'module', 'setImmediate'],
      'no-restricted-imports': ['error', { patterns: [{ group: ['node:*'], message: 'The core uses web-standard APIs only.' }] }],
    },
  },
  {
    name: 'time, ids and chance come in as arguments',
    files: ['src/**/*.ts'],
    ignores: [...testFiles, 'src/lib/**', 'src/cli/**'],
    rules: {
      'no-restricted-properties': [
        'error',
        { object: 'Date', property: 'now', message: useClock },
        { object: 'performance', property: 'now', message: useClock },
        { object: 'Math', property: 'random', message: useIds },
        { object: 'crypto', property: 'randomUUID', message: useIds },
        { object: 'crypto', property: 'getRandomValues', message: useIds },
      ],
      'no-restricted-syntax': [
        'error',
        ...shape,
        { selector: "NewExpression[callee.name='Date'][arguments.length=0]", message: useClock },
        { selector: "CallExpression[callee.name='Date']", message: useClock },
      ],
    },
  },
  {
    name: 'the page: published entry points only',
    files: ['page/**/*.{ts,tsx}'],
    rules: {
      'no-restricted-imports': [
        'error',
        {
          patterns: [
            { regex: '^stepline(?!/(ui|react)$)', message: 'The page uses stepline/ui and stepline/react only.' },
            { regex: '^(\\.\\./)+src/', message: 'The page uses published entry points only.' },
            { group: ['node:*'], message: 'The page runs in browsers.' },
          ],
        },
      ],
      'no-restricted-properties': ['error', { property: 'innerHTML', message: 'No string is read as HTML.' }],
      'no-restricted-syntax': [
        'error',
        ...shape,
        { selector: "JSXAttribute[name.name='dangerouslySetInnerHTML']", message: 'No string is read as HTML.' },
      ],
    },
  },
  {
    name: 'tests',
    files: [...testFiles, 'tests/**/*.ts'],
    rules: {
      '@typescript-eslint/ban-ts-comment': ['error', { 'ts-expect-error': false }],
      '@typescript-eslint/max-params': 'off',
      '@typescript-eslint/no-empty-function': 'off',
      '@typescript-eslint/no-non-null-assertion': 'off',
      '@typescript-eslint/unbound-method': 'off',
    },
  },
  {
    name: 'type tests',
    files: ['**/*.test-d.ts'],
    rules: {
      '@typescript-eslint/no-floating-promises': 'off',
      '@typescript-eslint/no-unused-expressions': 'off',
      '@typescript-eslint/no-unused-vars': 'off',
    },
  },
  {
    name: 'scripts and settings: checked by tsc',
    files: ['**/*.{js,mjs,cjs}'],
    extends: [tseslint.configs.disableTypeChecked],
    rules: { 'no-undef': 'off', '@typescript-eslint/no-require-imports': 'off' },
  },
  {
    name: 'settings export by default',
    files: ['**/*.config.{js,ts}', 'site/.vitepress/**'],
    rules: { 'no-restricted-syntax': 'off' },
  },
);
