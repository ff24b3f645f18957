import { isValidElement } from 'react';
import { renderToStaticMarkup } from 'react-dom/server';
import { describe, expect, it } from 'vitest';
import { renderMarkdown, withoutOpenLine } from './markdown.tsx';

const toHtml = (text: string): string => renderToStaticMarkup(<>{renderMarkdown(text)}</>);

/** Tags that a text may become, and no others. */
const allowedTags = [
  ...[
    'p',
    'br',
    'hr',
    'h2',
    'h3',
    'h4',
    'h5',
    'h6',
    'ul',
    'ol',
    'li',
    'input',
    'blockquote',
    'pre',
    'code',
    'strong',
    'em',
    'del',
    'a',
    'span',
  ],
  ...['div', 'table', 'thead', 'tbody', 'tr', 'th', 'td'],
];

const listTags = (html: string): readonly string[] => [...html.matchAll(/<([a-z][a-z0-9]*)/g)].map(([, tag = '']) => tag);
const listLinks = (html: string): readonly string[] => [...html.matchAll(/href="([^"]*)"/g)].map(([, href = '']) => href);

describe('what people write in Markdown', () => {
  it.each<[string, string]>([
    ['**bold** and *slanted*', '<p><strong>bold</strong> and <em>slanted</em></p>'],
    ['~~gone~~ `code <b>`', '<p><del>gone</del> <code>code &lt;b&gt;</code></p>'],
    ['one\ntwo', '<p>one<br/>two</p>'],
    ['- a\n- b', '<ul><li>a</li><li>b</li></ul>'],
    ['3. a\n4. b', '<ol start="3"><li>a</li><li>b</li></ol>'],
    ['> quoted', '<blockquote><p>quoted</p></blockquote>'],
    ['---', '<hr/>'],
    ['a &amp; b &lt; c &#x41; &euro; &nope; & d', '<p>a &amp; b &lt; c A € &amp;nope; &amp; d</p>'],
    ['\\*not slanted\\*', '<p>*not slanted*</p>'],
    ['```ts\nconst a = 1 < 2;\n```', '<pre tabindex="0" data-language="ts"><code>const a = 1 &lt; 2;</code></pre>'],
  ])('%j', (text, html) => {
    expect(toHtml(text)).toBe(html);
  });

  it('is shown as a table with its alignment', () => {
    const html = toHtml('| a | b |\n| - | -: |\n| 1 | **2** |');
    expect(html).toContain('<th>a</th><th class="align-right">b</th>');
    expect(html).toContain('<td>1</td><td class="align-right"><strong>2</strong></td>');
  });

  it('is shown as tasks that nobody can change', () => {
    const html = toHtml('- [x] done\n- [ ] open');
    expect(html.match(/<input[^>]*disabled/g)).toHaveLength(2);
    expect(html).toContain('aria-label="done"');
  });

  it('has headings below that of the page, without a gap', () => {
    expect(listTags(toHtml('# a\n\n#### b\n\n# c')).filter((tag) => tag.startsWith('h'))).toEqual(['h2', 'h3', 'h2']);
  });

  it('has links that open elsewhere and say nothing of this page', () => {
    const html = toHtml('[docs](https://example.com/a?b=1&c=2 "Title") and mailto:ann@example.com and https://example.com/x');
    expect(html).toContain(
      '<a href="https://example.com/a?b=1&amp;c=2" target="_blank" rel="noopener noreferrer nofollow" title="https://example.com/a?b=1&amp;c=2">docs</a>',
    );
    expect(listLinks(html)).toEqual(['https://example.com/a?b=1&amp;c=2', 'mailto:ann@example.com', 'https://example.com/x']);
  });
});

const hostile = [
  '<script>alert(1)</script>',
  '<img src=x onerror=alert(1)>',
  'a <b onclick="alert(1)">b</b> c',
  '<!-- <script>alert(1)</script> -->',
  '<svg/onload=alert(1)>',
  '<iframe src="https://evil.example"></iframe>',
  '<style>*{display:none}</style>',
  '<a href="javascript:alert(1)">x</a>',
  '[x](javascript:alert(1))',
  '[x](JaVaScRiPt:alert(1))',
  '[x](java\tscript:alert(1))',
  '[x](&#106;avascript:alert(1))',
  '[x](&#x6A;avascript&colon;alert(1))',
  '[x](%6aavascript:alert(1))',
  '[x](\u0001javascript:alert(1))',
  '[x](data:text/html,<script>alert(1)</script>)',
  '[x](vbscript:msgbox(1))',
  '[x](file:///etc/passwd)',
  '[x](blob:https://example.com/1)',
  '[x](//evil.example)',
  '[x](/inbox)',
  '[x](../s/1)',
  '[x](#main)',
  '<javascript:alert(1)>',
  '[x]: javascript:alert(1)\n\n[x]',
  '![x](https://evil.example/pixel.png)',
  '![x" onerror="alert(1)](https://evil.example/pixel.png)',
  '![x](javascript:alert(1))',
  '[![x](https://evil.example/a.png)](javascript:alert(1))',
  '```"><script>alert(1)</script>\ncode\n```',
  '`</code><script>alert(1)</script>`',
  '| <script>alert(1)</script> |\n| - |\n| <img src=x> |',
  '- <script>alert(1)</script>',
  '# <img src=x onerror=alert(1)>',
  '[x](https://example.com "\\" onmouseover=\\"alert(1)")',
  '&lt;script&gt;alert(1)&lt;/script&gt;',
  '**<b>** __proto__ [constructor](toString)',
  '\u202e[txt](https://example.com/\u202egpj.exe)',
];

describe('hostile text', () => {
  it.each(hostile)('becomes no element that it names: %j', (text) => {
    const html = toHtml(text);
    expect(listTags(html).filter((tag) => !allowedTags.includes(tag))).toEqual([]);
    const withoutValues = html.replaceAll(/="[^"]*"/g, '=""');
    expect(withoutValues).not.toMatch(/<[^>]*\s(on\w+|src|srcset|style)=/);
    for (const link of listLinks(html)) expect(link).toMatch(/^(https?:\/\/|mailto:)/);
  });

  it('is shown, not swallowed', () => {
    expect(toHtml('a <b onclick="alert(1)">b</b> c')).toBe('<p>a &lt;b onclick=&quot;alert(1)&quot;&gt;b&lt;/b&gt; c</p>');
    expect(toHtml('![a chart](https://example.com/c.png)')).toContain('>Image: a chart</a>');
    expect(toHtml('[x](javascript:alert(1))')).toContain('x');
  });

  it.each<[string, string]>([
    ['quotes in quotes', '> '.repeat(5_000) + 'deep'],
    ['lists in lists', Array.from({ length: 400 }, (_, depth) => `${' '.repeat(depth * 2)}- a`).join('\n')],
    ['brackets', '['.repeat(20_000)],
    ['stars', '*a '.repeat(5_000)],
    ['a very long text', 'word '.repeat(50_000)],
  ])('is shown as it is, and soon, if it is too deep or too long: %s', (_name, text) => {
    const startedAt = performance.now();
    expect(toHtml(text)).not.toBe('');
    expect(performance.now() - startedAt).toBeLessThan(4_000);
  });

  it.each([
    ['- one\n-', '- one'],
    ['Words\n---', 'Words'],
    ['Words\n==', 'Words'],
    ['Words\n- x', 'Words\n- x'],
    ['Words\n---\n', 'Words\n---\n'],
    ['-', '-'],
  ])('holds back a last line that may yet become something else: %j', (text, shown) => {
    expect(withoutOpenLine(text)).toBe(shown);
  });

  it('never makes HTML out of a string', () => {
    const seen: unknown[] = [];
    const visit = (node: unknown): void => {
      if (Array.isArray(node)) node.forEach(visit);
      if (!isValidElement<Record<string, unknown>>(node)) return;
      seen.push(node);
      expect(node.props).not.toHaveProperty('dangerouslySetInnerHTML');
      visit(node.props['children']);
    };
    for (const text of hostile) visit(renderMarkdown(text));
    expect(seen.length).toBeGreaterThan(50);
  });
});
