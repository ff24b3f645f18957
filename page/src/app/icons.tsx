// Icons: strokes on a grid of 16, in the colour of the text around them.
import type { ReactElement } from 'react';

const paths = {
  plus: 'M8 3.2v9.6M3.2 8h9.6',
  send: 'M8 13V3.4M3.8 7.4 8 3.2l4.2 4.2',
  stop: 'M4.2 4.2h7.6v7.6H4.2z',
  check: 'm3.4 8.6 3 3 6.2-7',
  cross: 'm4.2 4.2 7.6 7.6m0-7.6-7.6 7.6',
  warning: 'M8 2.6 14 13H2zM8 6.4v3.2m0 1.7v.1',
  pause: 'M6 4.2v7.6m4-7.6v7.6',
  clock: 'M8 4.8V8l2.2 1.6M14 8A6 6 0 1 1 2 8a6 6 0 0 1 12 0z',
  question: 'M6.2 6.2a1.9 1.9 0 1 1 2.6 1.8c-.5.2-.8.6-.8 1.2m0 2v.1M14 8A6 6 0 1 1 2 8a6 6 0 0 1 12 0z',
  info: 'M8 7.4v3.4m0-5.9V5M14 8A6 6 0 1 1 2 8a6 6 0 0 1 12 0z',
  blocked: 'M14 8A6 6 0 1 1 2 8a6 6 0 0 1 12 0zM3.8 3.8l8.4 8.4',
  inbox: 'M2.6 9.4 4.4 3.4h7.2l1.8 6v3.2H2.6zm0 0h3l.9 1.6h3l.9-1.6h3',
  back: 'M9.8 3.4 5.2 8l4.6 4.6',
  chevron: 'm6 3.8 4.2 4.2L6 12.2',
  down: 'M8 3v9.6M3.8 8.6 8 12.8l4.2-4.2',
  sun: 'M8 10.6a2.6 2.6 0 1 0 0-5.2 2.6 2.6 0 0 0 0 5.2zM8 1.6v1.2m0 10.4v1.2M1.6 8h1.2m10.4 0h1.2M3.5 3.5l.8.8m7.4 7.4.8.8m0-9-.8.8m-7.4 7.4-.8.8',
  moon: 'M13.2 9.6A5.6 5.6 0 0 1 6.4 2.8a5.6 5.6 0 1 0 6.8 6.8z',
  auto: 'M8 2.4v11.2M14 8A6 6 0 1 1 2 8a6 6 0 0 1 12 0zM8 5l4.2-1.6M8 8.2l5.6-2M8 11.2l5.2-2',
  tool: 'M9.6 6.4 3 13m7.8-9.8a3 3 0 0 0-3.4 4.1L2.6 12 4 13.4l4.7-4.8a3 3 0 0 0 4.1-3.4l-1.9 1.9-1.8-.2-.2-1.8z',
  flag: 'M4 14V2.8h7.6L9.8 5.6l1.8 2.8H4',
  retry: 'M13 3.6v3.2H9.8M12.8 6.6A5 5 0 1 0 13 9',
} as const;

export type IconName = keyof typeof paths;

/** An icon. Words beside it, or the label of its button, say the same. */
export function Icon({ name }: { readonly name: IconName }): ReactElement {
  return (
    <svg className="icon" viewBox="0 0 16 16" aria-hidden="true" focusable="false">
      <path d={paths[name]} />
    </svg>
  );
}
