import { dirname } from 'node:path';

// The app is copied into the repository's cache, and uses the packages of the folders around it.
// eslint-disable-next-line no-restricted-syntax -- Next.js asks for it
export default { turbopack: { root: dirname(dirname(dirname(import.meta.dirname))) }, devIndicators: false };
