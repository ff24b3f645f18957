// The process that this code runs in, as far as the platform tells.
// Owns:     what tells one process apart from all others, and whether a process of this machine is gone.
// Does not: need Node: elsewhere nothing is known, and no process counts as gone.
// P1. A process counts as gone only if that is certain: same boot of the same machine, same process namespace, and no such process there.

/** Facts that tell a process apart from all others. */
export interface ProcessIdentity {
  readonly host?: string;
  /** Differs with each start of the machine. */
  readonly bootId?: string;
  /** Containers have process numbers of their own. */
  readonly pidNamespace?: string;
  readonly pid?: number;
  /** Start of the process, in the kernel's own count. */
  readonly startedAt?: string;
}

interface NodeProcess {
  readonly pid: number;
  getBuiltinModule(name: string): unknown;
}

interface FileReader {
  readFileSync(path: string, encoding: 'utf8'): string;
  readlinkSync(path: string): string;
}

function findNode(): NodeProcess | undefined {
  const found: unknown = Reflect.get(globalThis, 'process');
  const isNode = typeof found === 'object' && found !== null && typeof Reflect.get(found, 'getBuiltinModule') === 'function';
  // Holds: only Node, and what imitates it, has this function.
  return isNode ? (found as NodeProcess) : undefined;
}

function tryRead(read: () => string): string | undefined {
  try {
    return read().trim();
  } catch {
    return undefined;
  }
}

// The name of the program, in brackets, may hold spaces and brackets itself; the start is the 20th field behind it.
const readStart = (files: FileReader, pid: number): string | undefined =>
  tryRead(() => files.readFileSync(`/proc/${pid}/stat`, 'utf8'))
    ?.split(') ')
    .at(-1)
    ?.split(' ')[19];

/** Reads the identity of this process. Empty if the platform tells nothing. */
export function readProcessIdentity(): ProcessIdentity {
  const node = findNode();
  if (node === undefined) return {};
  const files = node.getBuiltinModule('node:fs') as FileReader;
  const { hostname } = node.getBuiltinModule('node:os') as { readonly hostname: () => string };
  const { pid } = node;
  const found = {
    host: tryRead(hostname),
    bootId: tryRead(() => files.readFileSync('/proc/sys/kernel/random/boot_id', 'utf8')),
    pidNamespace: tryRead(() => files.readlinkSync('/proc/self/ns/pid')),
    startedAt: readStart(files, pid),
  };
  return { pid, ...Object.fromEntries(Object.entries(found).filter(([, value]) => value !== undefined)) };
}

/** True if a process has certainly ended: it ran on this machine, since its last start, and is not there any more. */
export function isProcessGone({ bootId, pidNamespace, pid, startedAt }: ProcessIdentity): boolean {
  const own = readProcessIdentity();
  if (bootId === undefined || pidNamespace === undefined || pid === undefined || startedAt === undefined) return false;
  if (bootId !== own.bootId || pidNamespace !== own.pidNamespace) return false;
  const files = findNode()?.getBuiltinModule('node:fs') as FileReader | undefined;
  return files !== undefined && readStart(files, pid) !== startedAt;
}
