// The final answer under an output schema: checked when it is given, and parsed again when the result is read.
import type { Failure } from '../errors/index.ts';
import { classifyError } from '../errors/index.ts';
import type { Json } from '../lib/index.ts';
import { parseJsonText, toCanonical } from '../lib/index.ts';
import type { OutputReading, StepScope } from '../step-by-step/index.ts';
import type { AnswerSchema } from '../tools/index.ts';
import { issuesText } from '../tools/index.ts';

/** Time that a check has after the run was interrupted: less than the loop waits for the step. */
const graceMs = 25;

/** The ports that bound a check. */
type Bounds = Pick<StepScope, 'control' | 'time'>;

function untilAborted<Value>(work: Value | Promise<Value>, { control, time }: Bounds): Promise<Value | undefined> | Value {
  if (!(work instanceof Promise)) return work;
  const { signal } = control;
  return new Promise((resolve, reject) => {
    let cancel: (() => void) | undefined;
    const giveUpSoon = (): void => {
      cancel = time.clock.schedule(graceMs, () => resolve(undefined));
    };
    if (signal.aborted) giveUpSoon();
    else signal.addEventListener('abort', giveUpSoon, { once: true });
    work.then(resolve, reject).finally(() => {
      cancel?.();
      signal.removeEventListener('abort', giveUpSoon);
    });
  });
}

/** The JSON of a final answer, or what is wrong with it in words for the model. */
export type CheckedOutput = { readonly ok: true; readonly value: Json } | { readonly ok: false; readonly problem: string };

/** Parses an answer, without the fence that models like to put around JSON; undefined if it is not JSON. */
export function parseAnswer(text: string): unknown {
  const fenced = /^\s*```(?:json)?\s*\n([\s\S]*?)\n?```\s*$/.exec(text);
  return parseJsonText((fenced?.[1] ?? text).trim());
}

/** Finds the JSON in an answer that may have a fence or a few words around it; undefined if there is none. */
export const findJson = (text: string): unknown =>
  parseJsonText(text) ?? parseJsonText(text.slice(text.indexOf('{'), text.lastIndexOf('}') + 1));

function parseOutput(text: string): CheckedOutput {
  const parsed = parseAnswer(text);
  if (parsed === undefined) return { ok: false, problem: text.trim() === '' ? 'The answer is empty.' : 'The answer is not valid JSON.' };
  const canonical = toCanonical(parsed);
  return canonical.ok ? canonical : { ok: false, problem: `The answer ${canonical.problem}.` };
}

/** Reads a final answer by its schema. Never throws; undefined if it was interrupted while the host's schema took its time. */
export async function checkOutput(schema: AnswerSchema, text: string, bounds: Bounds): Promise<CheckedOutput | undefined> {
  const json = parseOutput(text);
  if (!json.ok) return json;
  try {
    const checked = await untilAborted(schema.parse(json.value), bounds);
    if (checked === undefined) return undefined;
    return checked.ok ? json : { ok: false, problem: `The answer does not fit the output schema: ${issuesText(checked.issues)}.` };
  } catch (error) {
    return { ok: false, problem: `The answer could not be checked: ${classifyError(error).message}` };
  }
}

const noOutput = (problem: string): { readonly ok: false; readonly error: Failure } => {
  const message = `It ended without an answer that fits the output schema: ${problem}`;
  return { ok: false, error: { type: 'validation', code: 'no-output', message, retryable: false } };
};

/**
 * Parses the output of a completed state again: its JSON is stored, not the parsed value. There is none if a criterion ended the run
 * before there was an answer, or if the state was run by another agent.
 */
export async function readOutput(output: Json | undefined, schema: AnswerSchema | undefined): Promise<OutputReading<unknown>> {
  if (schema === undefined) return { ok: true, output: undefined };
  if (output === undefined) return noOutput('there is none.');
  try {
    const parsed = await schema.parse(output);
    return parsed.ok ? { ok: true, output: parsed.value } : noOutput(`${issuesText(parsed.issues)}.`);
  } catch (error) {
    return noOutput(classifyError(error).message);
  }
}
