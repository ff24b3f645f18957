import { classifyError } from '../errors/index.ts';
import type { Json } from '../lib/index.ts';
import { toCanonical } from '../lib/index.ts';
import type { StepScope } from '../step-by-step/index.ts';
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

/** What came of a final answer: its JSON, or what is wrong with it in words for the model. */
export type CheckedOutput = { readonly ok: true; readonly value: Json } | { readonly ok: false; readonly problem: string };

/** The JSON in an answer, without the fence that models like to put around it. */
export function jsonText(text: string): string {
  const fenced = /^\s*```(?:json)?\s*\n([\s\S]*?)\n?```\s*$/.exec(text);
  return (fenced?.[1] ?? text).trim();
}

function parsed(text: string): CheckedOutput {
  try {
    const canonical = toCanonical(JSON.parse(jsonText(text)));
    return canonical.ok ? { ok: true, value: canonical.value } : { ok: false, problem: `The answer ${canonical.problem}.` };
  } catch {
    return { ok: false, problem: text.trim() === '' ? 'The answer is empty.' : 'The answer is not valid JSON.' };
  }
}

/** Reads a final answer by its schema. Never throws; undefined where it was cut off while a schema of the host's took its time. */
export async function checkOutput(schema: AnswerSchema, text: string, bounds: Bounds): Promise<CheckedOutput | undefined> {
  const json = parsed(text);
  if (!json.ok) return json;
  try {
    const checked = await untilAborted(schema.parse(json.value), bounds);
    if (checked === undefined) return undefined;
    return checked.ok ? json : { ok: false, problem: `The answer does not fit the output schema: ${issuesText(checked.issues)}.` };
  } catch (error) {
    return { ok: false, problem: `The answer could not be checked: ${classifyError(error).message}` };
  }
}
