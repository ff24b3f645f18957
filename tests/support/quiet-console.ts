// Fails a test that writes with console.error or console.warn, so that a green run prints nothing but its report.
// A test that provokes a problem gives it an `onProblem` and looks at what came in. One that is about the console itself
// puts vi.spyOn(console, 'error').mockReturnValue() in its place, and restores it at its end.
import { afterAll, afterEach, expect } from 'vitest';

const written: string[] = [];
const record = (...values: readonly unknown[]): void => void written.push(values.map(String).join(' '));
console.error = record;
console.warn = record;

const expectNothingWritten = (): void => {
  expect(written.splice(0), 'written with console.error or console.warn').toStrictEqual([]);
};
afterEach(expectNothingWritten);
afterAll(expectNothingWritten);
