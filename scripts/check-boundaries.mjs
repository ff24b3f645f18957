// npm run boundaries: fails when an import in src/ goes where it must not, or when no module was read at all.
import { findBreaches } from './boundaries.mjs';
import { root } from './run.mjs';

const { moduleCount, breaches } = await findBreaches(root);
for (const { rule, why, from, to } of breaches) console.error(`${rule}: ${from} → ${to}\n  ${why}`);
console.log(`${String(moduleCount)} modules read, ${String(breaches.length)} breaches`);
if (moduleCount === 0)
  console.error('No module was read: the check proves nothing. Does dependency-cruiser support this TypeScript version?');
if (moduleCount === 0 || breaches.length > 0) process.exitCode = 1;
