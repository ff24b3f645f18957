// A JSON file that processes of one machine read and change together.
// Owns:     that a change is written whole, and that no two processes change the file at once.
// Does not: know what is in it.
// File-1. A change is on the disk when it settles. The file is replaced by a rename, so a process that dies leaves it as it was, or changed.
// File-2. What is asked for at once is done together, in the order in which it was asked for.
// File-3. Whoever writes holds a lock, a symbolic link that names its process. That of a process that is gone is removed by one of those who
//         wait. A process that is stopped keeps its lock, as it may go on; the others fail with `busy`.
import { open, readFile, readlink, rename, symlink, unlink } from 'node:fs/promises';
import { setTimeout as pause } from 'node:timers/promises';
import { SteplineError } from 'stepline';
import { StoreUnavailableError } from 'stepline/sessions';

export interface JsonFile<Data> {
  /** Looks at the data as they are now. What the work returns is copied. */
  read<Result>(work: (data: Data) => Result): Promise<Result>;
  /** Changes the data in place. Work that throws must not have changed anything. Its input and its result are copied. */
  change<Input, Result>(work: (data: Data, input: Input) => Result, input: Input): Promise<Result>;
  /** Throws if it is closed. */
  checkOpen(): void;
  /** Finishes what was asked for; everything later is refused. */
  close(): Promise<void>;
}

export interface JsonFileOptions<Data> {
  /** Data of a file that does not exist. */
  readonly empty: Data;
  /** Reads the text of a file. Throws if it is not such a file. */
  readonly parse: (text: string) => Data;
  /** Called with the data after each look at the file. */
  readonly onLook: (data: Data) => void;
}

interface Task<Data> {
  readonly isChange: boolean;
  /** Does the work, and returns how to settle its promise. */
  readonly run: (data: Data) => () => void;
  readonly fail: (error: unknown) => void;
}

const longestWaitMs = 10_000;

const getCode = (error: unknown): unknown => (error instanceof Error && 'code' in error ? error.code : undefined);

function toStoreError(error: unknown): SteplineError {
  if (SteplineError.is(error)) return error;
  const code = getCode(error);
  const problem = code === 'ENOSPC' ? 'full' : code === 'EACCES' || code === 'EROFS' ? 'read-only' : 'failed';
  return new StoreUnavailableError(problem, error instanceof Error ? error.message : String(error), error);
}

/** True if no process of this machine has the id that a lock begins with. */
function isGone(lock: string): boolean {
  try {
    process.kill(Number.parseInt(lock, 10), 0);
    return false;
  } catch (error) {
    return getCode(error) === 'ESRCH';
  }
}

/** Makes a link; returns false if there is one. */
const tryLink = (path: string, target: string): Promise<boolean> =>
  symlink(target, path).then(
    () => true,
    (error: unknown) => {
      if (getCode(error) === 'EEXIST') return false;
      throw error;
    },
  );

const readLock = (lock: string): Promise<string | undefined> => readlink(lock).catch(() => undefined);

/** Takes the lock. Returns how to release it. */
async function takeLock(lock: string, own: string): Promise<() => Promise<void>> {
  const startedAt = performance.now();
  while (!(await tryLink(lock, own))) {
    const holder = await readLock(lock);
    // Whoever makes this link removes the lock, and nobody else: a second one could remove the lock that was taken since.
    const removal = `${lock}.${String(holder)}`;
    if (holder !== undefined && isGone(holder) && (await tryLink(removal, own))) {
      if ((await readLock(lock)) === holder) await unlink(lock);
      await unlink(removal);
    } else if (performance.now() - startedAt > longestWaitMs) {
      throw new StoreUnavailableError('busy', `process ${String(holder)} holds ${lock}`);
    } else await pause(1 + Math.random() * 3);
  }
  return () => unlink(lock);
}

/** Opens a file. It is made with the first change. */
export function openJsonFile<Data>(path: string, { empty, parse, onLook }: JsonFileOptions<Data>): JsonFile<Data> {
  const own = `${process.pid}-${crypto.randomUUID()}`;
  let known: { readonly text: string; readonly data: Data } | undefined;
  let waiting: Task<Data>[] = [];
  let drained: Promise<void> | undefined;
  let isClosed = false;

  async function look(): Promise<{ readonly text: string; readonly data: Data }> {
    const text = await readFile(path, 'utf8').catch((error: unknown) => {
      if (getCode(error) === 'ENOENT') return '';
      throw error;
    });
    if (known?.text !== text) known = { text, data: text === '' ? structuredClone(empty) : parse(text) };
    return known;
  }

  async function write(text: string): Promise<void> {
    // Only the holder of the lock writes it.
    const next = `${path}.next`;
    const file = await open(next, 'w');
    try {
      await file.writeFile(text);
      await file.sync();
    } finally {
      await file.close();
    }
    await rename(next, path);
  }

  async function runTasks(tasks: readonly Task<Data>[]): Promise<void> {
    const release = tasks.some(({ isChange }) => isChange) ? await takeLock(`${path}.lock`, own) : undefined;
    try {
      const { text: before, data } = await look();
      const settles = tasks.map(({ run }) => run(data));
      const text = release === undefined ? before : JSON.stringify(data);
      if (text !== before) await write(text);
      known = { text, data };
      for (const settle of settles) settle();
      onLook(data);
    } finally {
      await release?.();
    }
  }

  async function drain(): Promise<void> {
    while (waiting.length > 0) {
      await Promise.resolve();
      const tasks = waiting;
      waiting = [];
      await runTasks(tasks).catch((error: unknown) => {
        known = undefined;
        for (const { fail } of tasks) fail(toStoreError(error));
      });
    }
    drained = undefined;
  }

  function checkOpen(): void {
    if (isClosed) throw new StoreUnavailableError('closed', 'it was closed');
  }

  async function ask<Result>(isChange: boolean, work: (data: Data) => Result): Promise<Result> {
    checkOpen();
    return new Promise((resolve, reject) => {
      const run = (data: Data): (() => void) => {
        try {
          const result = structuredClone(work(data));
          return () => resolve(result);
        } catch (error) {
          return () => reject(error);
        }
      };
      waiting.push({ isChange, run, fail: reject });
      drained ??= drain();
    });
  }

  return {
    read: (work) => ask(false, work),
    change: (work, input) => {
      const copy = structuredClone(input);
      return ask(true, (data) => work(data, copy));
    },
    checkOpen,
    close: async () => {
      isClosed = true;
      await drained;
    },
  };
}
