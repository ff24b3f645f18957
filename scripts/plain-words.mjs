// ESLint rules for plain English: what a tool can see of it. Each exception has its reason here.

/** Function names that break the rule, with the reason why they stay.
 * @type {Readonly<Record<string, string>>} */
export const allowedNames = {
  oneOf: 'The name of the idea in JSON Schema and in schema libraries; it reads as "one of these values".',
  optionalOneOf: 'The optional form of oneOf, beside optionalString and optionalNumber.',
  readOneOf: 'Reads the value of oneOf.',
  parseOneOf: 'Parses the value of oneOf.',
};

const irregular = new Set([
  ...['begun', 'chosen', 'done', 'drawn', 'found', 'given', 'held', 'kept', 'left', 'lost', 'made', 'met', 'said', 'seen', 'sent'],
  ...['shown', 'spoken', 'taken', 'thought', 'told', 'understood', 'written'],
]);
const verbsInEd = new Set(['embed', 'feed', 'need', 'seed', 'shed', 'speed']);
const participleStarts =
  /^(applied|awaited|blocked|cancelled|changed|checked|closed|copied|counted|failed|finished|given|granted|joined|kept|left|looked|merged|named|opened|owed|parsed|refused|rejected|seen|selected|settled|shown|stored|told)[A-Z]/;

/** True for `settled`, `begun`, `checkedWait`.
 * @type {(name: string) => boolean} */
const isParticiple = (name) =>
  /^[a-z]+$/.test(name) ? irregular.has(name) || (name.endsWith('ed') && !verbsInEd.has(name)) : participleStarts.test(name);

/** Returns the problem with the name of a function.
 * @type {(name: string) => string | undefined} */
export function findNameProblem(name) {
  if (Object.hasOwn(allowedNames, name)) return undefined;
  if (/[a-z]Of$/.test(name)) return `A function starts with a verb: "${name}" should be getX, toX, findX or the like.`;
  return isParticiple(name)
    ? `A function starts with a verb: "${name}" is a participle. Use parseX, assertX, applyX or the like.`
    : undefined;
}

/** Returns the problem with the text of a comment.
 * @type {(comment: { readonly type: string, readonly value: string }) => string | undefined} */
export function findCommentProblem({ type, value }) {
  const word =
    type === 'Block' && value.startsWith('*') ? /^\*[\s*]*(Whether|What|Whose|Who|Where|Which|When|How)\b/.exec(value)?.[1] : undefined;
  if (word !== undefined) return `A doc comment is a noun phrase or an imperative; this one begins with "${word}".`;
  const no = /(?<!\b[Tt]here )\b(is|are|was|were) no (?!longer\b|more\b|other\b|better\b|worse\b)[a-z]+/.exec(value);
  return no === null ? undefined : `Write "${no[1]} not a …" for "${no[0]}".`;
}

/** @typedef {import('eslint').Rule.RuleModule} RuleModule */

/** @type {RuleModule} */
const functionNames = {
  meta: { type: 'suggestion', docs: { description: 'Functions start with a verb.' }, schema: [] },
  create: (context) => {
    /** @param {import('estree').Node | null | undefined} name */
    const check = (name) => {
      if (name?.type !== 'Identifier' && name?.type !== 'PrivateIdentifier') return;
      const problem = findNameProblem(name.name);
      if (problem !== undefined) context.report({ node: name, message: problem });
    };
    return {
      FunctionDeclaration: ({ id }) => check(id),
      MethodDefinition: ({ key, kind, computed }) => {
        if (kind === 'method' && !computed) check(key);
      },
      VariableDeclarator: ({ id, init }) => {
        if (init?.type === 'ArrowFunctionExpression' || init?.type === 'FunctionExpression') check(id);
      },
    };
  },
};

/** @type {RuleModule} */
const comments = {
  meta: { type: 'suggestion', docs: { description: 'Comments are plain English.' }, schema: [] },
  create: (context) => ({
    Program: () => {
      for (const comment of context.sourceCode.getAllComments()) {
        const problem = findCommentProblem(comment);
        if (problem !== undefined && comment.loc) context.report({ loc: comment.loc, message: problem });
      }
    },
  }),
};

/** @type {import('eslint').ESLint.Plugin} */
export const plainWords = { rules: { 'function-names': functionNames, comments } };
