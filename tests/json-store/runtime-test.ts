// Sessions on the store: whatever becomes of the processes that run them.
import { test } from 'node:test';
import { sessionRuntimeConformance } from 'stepline/testing';
import { abilities, makeWorld } from './world.ts';

for (const { name, missing, run } of sessionRuntimeConformance(makeWorld, abilities))
  void test(name, { skip: missing.length > 0 && `needs ${missing.join(', ')}`, timeout: 60_000 }, async () => run());
