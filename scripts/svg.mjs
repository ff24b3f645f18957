// What all pictures have in common: their style, light or dark as the reader's system is, their frame and their texts.

const style = `
  text { font: 13px ui-sans-serif, system-ui, -apple-system, 'Segoe UI', Roboto, sans-serif; fill: #1f2328; }
  .mono { font-family: ui-monospace, SFMono-Regular, Menlo, Consolas, monospace; font-size: 12px; }
  .strong { font-weight: 600; }
  .right { text-anchor: end; }
  .soft { fill: #656d76; }
  .small { font-size: 11px; }
  .page { fill: #ffffff; stroke: #d1d9e0; }
  .line { stroke: #e4e8ec; }
  .track { fill: #e7ebef; }
  .used { fill: #4f8fdc; }
  .full, .bad { fill: #cf222e; }
  .good { fill: #1a7f37; }
  .go { fill: #0969da; }
  .end { fill: #cf222e; fill-opacity: 0.07; }
  .box { fill: #ffffff; stroke: #d1d9e0; }
  .track-box { fill: #f4f6f8; stroke: #e4e8ec; }
  @media (prefers-color-scheme: dark) {
    text { fill: #e6edf3; }
    .soft { fill: #9198a1; }
    .page { fill: #0d1117; stroke: #3d444d; }
    .line { stroke: #2a313a; }
    .track { fill: #2a313a; }
    .used { fill: #3f7fcf; }
    .full, .bad { fill: #f85149; }
    .good { fill: #3fb950; }
    .go { fill: #58a6ff; }
    .end { fill: #f85149; fill-opacity: 0.12; }
    .box { fill: #0d1117; stroke: #3d444d; }
    .track-box { fill: #161b22; stroke: #2a313a; }
  }
`;

const escape = (/** @type {string} */ text) => text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');
/** Cuts a text to a number of letters. */
export const clip = (/** @type {string} */ text, /** @type {number} */ longest) =>
  text.length > longest ? `${text.slice(0, longest - 1)}…` : text;

/** @typedef {{ readonly x: number, readonly y: number, readonly as?: string }} Place */

/** Writes a text at a place. */
export const write = (/** @type {string} */ text, /** @type {Place} */ { x, y, as = '' }) =>
  `<text x="${String(x)}" y="${String(y)}"${as === '' ? '' : ` class="${as}"`}>${escape(text)}</text>`;

/** Opens a picture with its frame. The label is read aloud in place of the picture.
 * @type {(options: { readonly width: number, readonly height: number, readonly label: string }) => string} */
export const openSvg = ({ width, height, label }) =>
  `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${String(width)} ${String(height)}" width="${String(width)}" height="${String(height)}" role="img" aria-label="${escape(label).replaceAll('"', '&quot;')}">
<style>${style}</style>
<rect x="0.5" y="0.5" width="${String(width - 1)}" height="${String(height - 1)}" rx="8" class="page"/>`;

export const closeSvg = '</svg>\n';
