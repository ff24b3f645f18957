// The keyboard: one line at a time, while the answer under way has the screen for itself.
// K1. What is typed while nobody asks is kept for the next question, but never taken for the answer to an approval.
// K2. Ctrl-C is counted until the next line is sent.
// K3. The end of the input answers every question from then on.
import { createInterface } from 'node:readline';
import { Writable } from 'node:stream';

export type Heard =
  { readonly type: 'line'; readonly text: string } | { readonly type: 'interrupt'; readonly times: number } | { readonly type: 'end' };

export interface AskOptions {
  /** Stands there already, to be edited. */
  readonly prefill?: string;
  /** Drops what was typed before the question stood there. */
  readonly fresh?: boolean;
}

export interface Keyboard {
  ask(prompt: string, options?: AskOptions): Promise<Heard>;
  /** Hears Ctrl-C while nobody asks; returns its unsubscribe. */
  onInterrupt(listener: (times: number) => void): () => void;
  close(): void;
}

interface Terminal {
  readonly input: NodeJS.ReadStream;
  readonly output: NodeJS.WriteStream;
}

export function createKeyboard({ input, output }: Terminal): Keyboard {
  let answer: ((heard: Heard) => void) | undefined;
  let hasEnded = false;
  const typedAhead: string[] = [];
  const listeners = new Set<(times: number) => void>();
  let interrupts = 0;

  const quietOutput = new Writable({
    write: (chunk: Buffer, _encoding, done) => {
      if (answer !== undefined) output.write(chunk);
      done();
    },
  });
  // The line editor must know where lines break.
  Object.defineProperty(quietOutput, 'columns', { get: () => output.columns });
  const editor = createInterface({ input, output: quietOutput, terminal: true, historySize: 200 });

  const settle = (heard: Heard): void => {
    const waiting = answer;
    answer = undefined;
    waiting?.(heard);
  };
  const drop = (): void => {
    editor.write(null, { ctrl: true, name: 'e' });
    editor.write(null, { ctrl: true, name: 'u' });
  };

  editor.on('line', (text) => {
    interrupts = 0;
    if (answer === undefined) typedAhead.push(text);
    else settle({ type: 'line', text });
  });
  editor.on('SIGINT', () => {
    interrupts += 1;
    if (answer === undefined) {
      for (const listener of [...listeners]) listener(interrupts);
      return;
    }
    drop();
    output.write('\n');
    settle({ type: 'interrupt', times: interrupts });
  });
  editor.on('close', () => {
    hasEnded = true;
    if (answer !== undefined) output.write('\n');
    settle({ type: 'end' });
  });

  return {
    ask: async (prompt, { prefill, fresh = false } = {}) => {
      if (fresh) typedAhead.length = 0;
      const ahead = typedAhead.shift();
      if (ahead !== undefined) {
        output.write(`${prompt}${ahead}\n`);
        return { type: 'line', text: ahead };
      }
      if (hasEnded) return { type: 'end' };
      if (fresh) drop();
      return new Promise((resolve) => {
        answer = resolve;
        editor.setPrompt(prompt);
        editor.prompt(true);
        if (prefill !== undefined) editor.write(prefill);
      });
    },
    onInterrupt: (listener) => {
      listeners.add(listener);
      return () => {
        listeners.delete(listener);
      };
    },
    close: () => {
      editor.close();
    },
  };
}
