// Tools and models that tests of chats use.
import { defineTool } from '../../src/tools/index.ts';

const nothing = { type: 'object', properties: {} } as const;

export const look = defineTool({ name: 'look', description: 'Looks.', input: nothing, run: () => ({ found: 2 }) });

/** A tool that needs an approval, and the arguments that it ran with. */
export function createPay() {
  const runs: unknown[] = [];
  const pay = defineTool({
    name: 'pay',
    description: 'Pays.',
    input: { type: 'object', properties: { euros: { type: 'number' } }, required: ['euros'] },
    needsApproval: true,
    run: ({ euros }) => {
      runs.push(euros);
      return `${String(euros)} paid`;
    },
  });
  return { pay, runs };
}

/** A gate that a tool or a model waits at. */
export function createGate() {
  let open = (): void => undefined;
  const gate = new Promise<void>((resolve) => (open = resolve));
  async function* write(...pieces: readonly string[]): AsyncGenerator<string> {
    const [first = '', ...rest] = pieces;
    yield first;
    await gate;
    yield* rest;
  }
  const slow = defineTool({ name: 'slow', description: 'Takes a while.', input: nothing, run: () => gate.then(() => 'done') });
  return { open: () => open(), write, slow };
}
