// The part of the renderer that tests use; it comes without types.
declare module 'react-test-renderer' {
  import type { ReactElement } from 'react';

  export interface Rendered {
    update(element: ReactElement): void;
    unmount(): void;
    toJSON(): unknown;
  }
  export function create(element: ReactElement): Rendered;
  export function act(work: () => void | Promise<void>): Promise<void>;
}
