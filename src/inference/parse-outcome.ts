// Anybody may write a Model. What it returns is checked here, before it enters a step: a step that was recorded with a malformed
// answer could not be restored.
import type { Failure } from '../errors/index.ts';
import { classifyError, ErrorType } from '../errors/index.ts';
import { childPath, getKnownForm, isRecord } from '../lib/index.ts';
import type { Attachment } from '../messages/index.ts';
import { findAttachmentProblem, Usage } from '../messages/index.ts';
import { withUniqueIds } from './answer-calls.ts';
import { MalformedResponseError } from './malformed-response-error.ts';
import type { Model, ModelOutcome, ModelResponse } from './model.ts';
import { findEmptyFailure } from './settle-answer.ts';
import type { FieldForms, Form } from './value-form.ts';
import { countForm, describeFound, flagForm, jsonForm, jsonObjectForm, listForm, Mismatch } from './value-form.ts';
import { nameForm, objectForm, textForm, unionForm, wordForm } from './value-form.ts';

const metadata = { providerMetadata: jsonObjectForm };

/** The form of a part, besides its type, and besides the metadata that any part may have. */
function partForm({ required, optional = {} }: FieldForms): Form {
  return objectForm({ required: { type: textForm, ...required }, optional: { ...optional, ...metadata } });
}

/** The form of a part that holds or names its content in exactly one of several ways. */
function sourceForm(names: readonly [string, ...string[]], rest: FieldForms): Form {
  const [first, ...others] = names;
  const sources = Object.fromEntries(names.map((name) => [name, textForm]));
  const parse = partForm({ ...rest, optional: { ...rest.optional, ...sources } });
  const unlessGiven = others.map((name) => `"${name}"`).join(' or ');
  return (value) => {
    const parsed = parse(value);
    if (!isRecord(parsed) || parsed instanceof Mismatch) return parsed;
    const [given, second] = names.filter((name) => Object.hasOwn(parsed, name));
    if (given === undefined) return new Mismatch(`a string, unless ${unlessGiven} is given`, undefined, [first]);
    if (second !== undefined) return new Mismatch(`left out if "${given}" is given`, parsed[second], [second]);
    // Holds: its fields were checked one by one.
    const problem = findAttachmentProblem(parsed as unknown as Attachment);
    return problem === undefined ? parsed : new Mismatch(problem.expected, problem.found, [problem.field]);
  };
}

const contentForms = {
  text: partForm({ required: { text: textForm } }),
  image: sourceForm(['data', 'url'], { required: {}, optional: { mediaType: textForm } }),
  file: sourceForm(['data', 'url', 'id'], { required: { mediaType: textForm }, optional: { filename: textForm } }),
};

const outputForm = (required: Readonly<Record<string, Form>>): Form => objectForm({ required: { type: textForm, ...required } });

const toolOutput = unionForm({
  text: outputForm({ value: textForm }),
  json: outputForm({ value: jsonForm }),
  content: outputForm({ parts: listForm(unionForm(contentForms)) }),
  error: outputForm({ value: textForm }),
  rejected: outputForm({ reason: textForm }),
});

const part = unionForm({
  ...contentForms,
  reasoning: partForm({ required: { text: textForm } }),
  'tool-call': partForm({
    required: { toolCallId: nameForm, toolName: textForm, args: jsonForm },
    optional: { rawArgs: textForm, providerExecuted: flagForm },
  }),
  'tool-result': partForm({
    required: { toolCallId: nameForm, toolName: textForm, output: toolOutput },
    optional: { providerExecuted: flagForm },
  }),
  source: partForm({
    required: { sourceType: wordForm(['url', 'document']), id: textForm },
    optional: { url: textForm, title: textForm, mediaType: textForm, filename: textForm },
  }),
  provider: partForm({ required: { provider: textForm, data: jsonForm } }),
});

const counts = objectForm({
  required: { input: countForm, output: countForm },
  optional: { total: (value) => value, cacheRead: countForm, cacheWrite: countForm, reasoning: countForm, unknownCalls: countForm },
});

const usage: Form = (value) => {
  const parsed = counts(value);
  if (!isRecord(parsed) || parsed instanceof Mismatch) return parsed;
  const { input, output, total, reasoning = 0 } = parsed;
  // The total follows from the rest, and thinking is a part of the output.
  return total === Number(input) + Number(output) && Number(reasoning) <= Number(output) ? parsed : Usage.fromJSON(parsed);
};

const response = objectForm({
  required: { parts: listForm(part), usage },
  optional: {
    finishReason: textForm,
    rawFinishReason: textForm,
    id: textForm,
    modelId: textForm,
    provider: textForm,
    route: objectForm({ required: { failed: listForm(textForm), answered: textForm }, optional: { problems: listForm(textForm) } }),
    ...metadata,
  },
});

const failure = objectForm({
  required: { type: wordForm(Object.values(ErrorType)), code: textForm, message: textForm, retryable: flagForm },
  optional: {
    retryAfterMs: countForm,
    toolName: textForm,
    toolCallId: textForm,
    readable: flagForm,
    refusedParts: listForm(objectForm({ required: { messageId: textForm, path: textForm, reason: textForm } })),
    causes: listForm(textForm),
  },
});

const success = objectForm({ required: { ok: flagForm, response } });
const refusal = objectForm({ required: { ok: flagForm, failure }, optional: { partial: (value) => value } });

function describe({ keys, expected, found }: Mismatch): string {
  if (keys.length === 0) return `returned ${describeFound(found)} instead of an outcome`;
  return `returned a malformed outcome: ${keys.reduce<string>(childPath, '')} must be ${expected}, found ${describeFound(found)}`;
}

/** Usage of an answer that cannot be read otherwise; unknown if its usage cannot be read either. */
function salvageUsage(value: unknown): Usage {
  const found = usage(isRecord(value) ? value['usage'] : undefined);
  // Holds: a value that has the form of usage is usage.
  return found instanceof Mismatch ? Usage.unknown() : (found as Usage);
}

function toMalformed(mismatch: Mismatch, given: unknown, { provider, modelId }: Pick<Model, 'provider' | 'modelId'>): ModelOutcome {
  const message = `The model ${provider}/${modelId} ${describe(mismatch)}. Its answer was not used. Correct what its generate() and stream() return.`;
  const answer = isRecord(given) ? (given['response'] ?? given['partial']) : undefined;
  return {
    ok: false,
    failure: classifyError(new MalformedResponseError(message, { retryable: false })),
    partial: { parts: [], usage: salvageUsage(answer) },
  };
}

function parseFailure(parsed: { readonly failure: Failure; readonly partial?: unknown }): ModelOutcome {
  const partial = response(parsed.partial);
  // The failure says what happened; a partial answer is only for display.
  const shown = partial instanceof Mismatch ? { parts: [], usage: salvageUsage(parsed.partial) } : (partial as ModelResponse);
  return { ok: false, failure: parsed.failure, partial: shown };
}

type Answered = Extract<ModelOutcome, { readonly ok: true }>;

/** Finds a result that belongs to no call of its answer; only the provider's own may belong to an earlier one. Providers refuse others. */
function findStrayResult({ parts }: ModelResponse): Mismatch | undefined {
  const index = parts.findIndex((each) => {
    if (each.type !== 'tool-result' || each.providerExecuted === true) return false;
    return !parts.some((other) => other.type === 'tool-call' && other.toolCallId === each.toolCallId);
  });
  const stray = parts[index];
  if (stray?.type !== 'tool-result') return undefined;
  return new Mismatch('the id of a call in the same answer', stray.toolCallId, ['response', 'parts', index, 'toolCallId']);
}

function parseAnswer(parsed: Answered, model: Pick<Model, 'provider' | 'modelId'>): ModelOutcome {
  const stray = findStrayResult(parsed.response);
  if (stray !== undefined) return toMalformed(stray, parsed, model);
  const failure = findEmptyFailure(parsed.response);
  if (failure !== undefined) return { ok: false, failure, partial: parsed.response };
  const parts = withUniqueIds(parsed.response.parts);
  return parts === parsed.response.parts ? parsed : { ok: true, response: { ...parsed.response, parts } };
}

/** True if the response builder made this very outcome: its fields have the right form, and nobody can have changed them. */
const isBuiltOutcome = (given: unknown): given is ModelOutcome => getKnownForm(given) === 'model-outcome';

/**
 * Parses what a model returned. A well-formed outcome is returned as it is, without fields that nobody knows; an answer without
 * content is a failure (M6), and anything else is a failure that says which field is wrong and what was found there.
 */
export function parseOutcome(given: unknown, model: Pick<Model, 'provider' | 'modelId'>): ModelOutcome {
  if (isBuiltOutcome(given)) return given;
  if (!isRecord(given)) return toMalformed(new Mismatch('an object', given), given, model);
  const { ok } = given;
  const parsed = ok === true ? success(given) : ok === false ? refusal(given) : flagForm(ok);
  if (parsed instanceof Mismatch) return toMalformed(typeof ok === 'boolean' ? parsed : parsed.inside('ok'), given, model);
  // Holds: both forms were checked field by field.
  return ok === true
    ? parseAnswer(parsed as Answered, model)
    : parseFailure(parsed as { readonly failure: Failure; readonly partial?: unknown });
}
