// What is shown goes through a redactor: the output of a script or a pipe is often kept.
import type { Json } from 'stepline';
import { createRedactor } from 'stepline';
import { json } from './screen.ts';

const redactor = createRedactor();

/** Removes obvious secrets from a text. */
export const redactText = (text: string): string => redactor.text(text);

/** Writes a value as one line of JSON, without obvious secrets. */
export const redactJson = (value: Json): string => json(redactor.value(value));
