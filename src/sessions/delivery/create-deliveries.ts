// The deliveries of a runtime: checks arguments, and ends them with it.
import { describeValue, InvalidArgumentError } from '../../lib/index.ts';
import { parseBoolean, parseFeedFilter, parseOptions } from '../core/parse-input.ts';
import type { SessionRuntime } from '../core/session-runtime.ts';
import { askForRetry, listLetters } from './dead-letters.ts';
import type { DeliverOptions } from './delivery.ts';
import type { DeliveryServices, ParsedDeliverOptions } from './delivery-worker.ts';
import { DeliveryWorker } from './delivery-worker.ts';

/** Numbers that a delivery takes: the usual one and the least. */
const numbers = {
  maxAttempts: [100, 1],
  firstDelayMs: [1000, 0],
  maxDelayMs: [300_000, 0],
  timeoutMs: [30_000, 1],
  concurrency: [8, 1],
} as const;

function parseNumber(given: Readonly<Record<string, unknown>>, name: keyof typeof numbers): number {
  const [usual, least] = numbers[name];
  const value = given[name] ?? usual;
  const isCount = name === 'maxAttempts' || name === 'concurrency';
  const isNumber = typeof value === 'number' && (isCount ? Number.isSafeInteger(value) : Number.isFinite(value));
  if (isNumber && value >= least) return value;
  throw new InvalidArgumentError(
    `deliver(): ${name} must be a ${isCount ? 'whole number' : 'number'} of ${least} or more, not ${describeValue(value)}.`,
  );
}

function parseDeliverOptions(options: DeliverOptions): ParsedDeliverOptions {
  const given = parseOptions(options, 'deliver', ['tenant', 'types', 'redact', 'startAt', ...Object.keys(numbers)]);
  const { startAt = 'start', redact = true } = given;
  if (startAt !== 'start' && startAt !== 'now')
    throw new InvalidArgumentError(`deliver(): startAt must be "start" or "now", not ${describeValue(startAt)}.`);
  return {
    startAt,
    redact: parseBoolean(redact, 'deliver(): redact'),
    maxAttempts: parseNumber(given, 'maxAttempts'),
    firstDelayMs: parseNumber(given, 'firstDelayMs'),
    maxDelayMs: parseNumber(given, 'maxDelayMs'),
    timeoutMs: parseNumber(given, 'timeoutMs'),
    concurrency: parseNumber(given, 'concurrency'),
    ...parseFeedFilter(given, 'deliver'),
  };
}

const nameText = /^[\w.:-]{1,100}$/;

function parseName(name: unknown, method: string): string {
  if (typeof name === 'string' && nameText.test(name)) return name;
  throw new InvalidArgumentError(
    `${method}() needs a name of up to 100 letters, digits and the signs . : _ -, such as "slack", not ${describeValue(name)}.`,
  );
}

/** The deliveries of a runtime. */
export interface Deliveries extends Pick<SessionRuntime, 'deliver' | 'deadLetters' | 'retryDeadLetter'> {
  readonly stopAll: () => Promise<void>;
}

export function createDeliveries(services: Omit<DeliveryServices, 'id'>, createId: () => string): Deliveries {
  const workers = new Map<string, DeliveryWorker>();
  const stop = async (worker: DeliveryWorker): Promise<void> => {
    if (workers.get(worker.name) === worker) workers.delete(worker.name);
    await worker.stop();
  };
  return {
    deliver: (given, send, options = {}) => {
      const name = parseName(given, 'deliver');
      if (typeof send !== 'function')
        throw new InvalidArgumentError(`deliver("${name}") needs a function that sends events, not ${describeValue(send)}.`);
      const parsed = parseDeliverOptions(options);
      if (workers.has(name))
        throw new InvalidArgumentError(`This runtime delivers under the name "${name}" already. Stop that delivery, or use another name.`);
      const worker = new DeliveryWorker(name, send, { services: { ...services, id: createId() }, options: parsed });
      workers.set(name, worker);
      return { name, stop: () => stop(worker) };
    },
    deadLetters: async (name, query = {}) => listLetters(services.notes, parseName(name, 'deadLetters'), query),
    retryDeadLetter: async (given, id) => {
      const name = parseName(given, 'retryDeadLetter');
      await askForRetry(services.notes, name, id);
      workers.get(name)?.pokeLetters();
    },
    stopAll: async () => {
      await Promise.all([...workers.values()].map(stop));
    },
  };
}
