import { readFileSync } from 'node:fs';
import type { JsonObject } from '../../src/lib/index.ts';
import type { Envelope } from '../../src/broadcasting/index.ts';
import { validateJson } from '../../src/tools/validate-json.ts';

/** The schema that the package ships. */
export const envelopeSchema = JSON.parse(readFileSync(new URL('../../envelope.schema.json', import.meta.url), 'utf8')) as JsonObject;

/** Describes why an envelope does not fit the schema; empty if it does. */
export function toEnvelopeProblems(envelope: Envelope): readonly string[] {
  // What JSON cannot hold is not on the wire.
  const wire = JSON.parse(JSON.stringify(envelope)) as JsonObject;
  return validateJson(envelopeSchema, wire).map((issue) => `${envelope.event}: ${JSON.stringify(issue)}`);
}
