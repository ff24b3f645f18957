import { describe, expect, it } from 'vitest';
import { issuesText } from './schema-issue.ts';

const issue = (path: string, message = 'is required') => ({ path, message });

describe('issuesText', () => {
  it('names each place and what is wrong there', () => {
    expect(issuesText([issue('city'), issue('', 'must be object')])).toBe('city: is required; must be object');
  });

  it('stays short however much is wrong', () => {
    const many = Array.from({ length: 20 }, (_, index) => issue(`[${index}]`));
    expect(issuesText(many)).toMatch(/\[7\]: is required; and 12 more$/);
    expect(issuesText([issue('a', 'x'.repeat(5000))]).length).toBeLessThan(400);
  });

  it('says so where a schema gives no reason', () => {
    expect(issuesText([])).toBe('the schema does not say why');
  });
});
