import { describe, expect, it } from 'vitest';
import { unknownToolText } from './tool-name.ts';

const names = ['web_search', 'read_file', 'write_file', 'send_mail'];

describe('unknownToolText', () => {
  it.each([
    ['websearch', 'Did you mean "web_search"?'],
    ['web_serch', 'Did you mean "web_search"?'],
    ['WebSearch', 'Did you mean "web_search"?'],
    ['functions.read_file', 'Did you mean "read_file"?'],
    ['file', 'Did you mean "read_file" or "write_file"?'],
    ['transmogrify', 'The tools are: web_search, read_file, write_file, send_mail.'],
    ['', 'The tools are: web_search, read_file, write_file, send_mail.'],
    ['constructor', 'The tools are: web_search'],
  ])('%j', (name, expected) => {
    expect(unknownToolText(name, names)).toContain(expected);
    expect(unknownToolText(name, names)).toContain(`There is no tool named ${JSON.stringify(name)}`);
  });

  it('says so where there are no tools at all', () => {
    expect(unknownToolText('a', [])).toBe('There is no tool named "a", and no other tool either.');
  });

  it('stays short with many tools and a long name', () => {
    const many = Array.from({ length: 500 }, (_, index) => `t${index}`);
    const text = unknownToolText('😀'.repeat(100_000), many);
    expect(text).toContain('t19 and 480 more.');
    expect(text.length).toBeLessThan(500);
  });
});
