import { createContext } from 'react';

/** Shows an element of the conversation from its top, if it is too tall to be seen whole. */
export const ShowTop = createContext<(element: HTMLElement) => void>(() => undefined);
