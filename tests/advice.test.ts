// One source for what people read about codes and stored values: docs/errors.md, explanations and pages agree.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { root } from '../scripts/run.mjs';
import { describeErrorType, describeStatus, describeStopReason, ErrorType, ExecutionStatus, StopReason } from '../src/entry/index.ts';
import { adviceAfterRetries, adviceByCode } from '../src/errors/index.ts';

const page = readFileSync(join(root, 'docs/errors.md'), 'utf8')
  .replaceAll('`', '')
  .replaceAll(/ +\| */g, ' | ');
const findRow = (code: string): string | undefined => page.split('\n').find((line) => line.startsWith(`| ${code} | `));
const findSection = (code: string): string | undefined => page.split(/^## /m).find((section) => section.startsWith(`${code}\n`));

describe('the advice of explanations', () => {
  test.each(Object.entries(adviceByCode))('%s is what docs/errors.md says', (code, advice) => {
    if (code === 'model-refused') expect(findSection('model-failed')).toContain(advice);
    else if (code === 'empty-at-token-limit') expect(findSection('empty-response')).toContain(advice);
    else if (findRow(code) === undefined) expect(findSection(code)).toContain(`**What to do:** ${advice}`);
    else expect(findRow(code)).toContain(` | ${advice} |`);
  });
});

describe('the advice after retries', () => {
  test.each(Object.entries(adviceByCode))('for %s does not tell the error policy to retry', (code, advice) => {
    const after = Object.entries(adviceAfterRetries).find(([each]) => each === code)?.[1] ?? advice;
    expect(after).not.toMatch(/error policy retry/);
  });
});

describe('descriptions for pages', () => {
  test.each(Object.values(StopReason))('of the stop reason %s are those of docs/errors.md', (reason) => {
    const { label, sentence, next = '' } = describeStopReason(reason);
    const cells = findRow(reason)
      ?.split('|')
      .map((cell) => cell.trim());
    expect(cells).toStrictEqual(['', reason, label, sentence, next, '']);
    expect(sentence).toMatch(/^[A-Z].*\.$/);
  });

  test('tell every stop reason, status and kind of failure apart', () => {
    for (const labels of [
      Object.values(StopReason).map((value) => describeStopReason(value).label),
      Object.values(ExecutionStatus).map((value) => describeStatus(value).label),
      Object.values(ErrorType).map((value) => describeErrorType(value).label),
    ]) {
      expect(labels.every((label) => label !== '')).toBe(true);
      expect(new Set(labels).size).toBe(labels.length);
    }
  });
});
