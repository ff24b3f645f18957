// The deliveries of a runtime: checks arguments, and ends them with it.
import { checkKeys, describeValue, InvalidArgumentError, isRecord } from '../../lib/index.ts';
import { parseFeedOptions } from '../core/parse-input.ts';
import type { SessionRuntime } from '../core/session-runtime.ts';
import { askForRetry, listLetters } from './dead-letters.ts';
import type { DeliverOptions } from './delivery.ts';
import type { DeliveryServices, ParsedDeliverOptions } from './delivery-worker.ts';
import { DeliveryWorker } from './delivery-worker.ts';

const numbers = { maxAttempts: 100, firstDelayMs: 1000, maxDelayMs: 300_000, timeoutMs: 30_000, concurrency: 8 } as const;

function parseNumber(value: unknown, name: string, least: number): number {
  const isCount = name === 'maxAttempts' || name === 'concurrency';
  const isNumber = typeof value === 'number' && (isCount ? Number.isSafeInteger(value) : Number.isFinite(value));
  if (isNumber && value >= least) return value;
  throw new InvalidArgumentError(
    `deliver(): ${name} must be a ${isCount ? 'whole number' : 'number'} of ${least} or more, not ${describeValue(value)}.`,
  );
}

function parseDeliverOptions(options: DeliverOptions): ParsedDeliverOptions {
  const { startAt = 'start', redact = true, ...given } = options;
  const more = ['startAt', ...Object.keys(numbers)];
  if (isRecord(options)) checkKeys('deliver()', options, ['tenant', 'types', 'redact', ...more]);
  const { tenant, types } = parseFeedOptions({ ...given, redact }, 'deliver', more);
  if (!['start', 'now'].includes(startAt))
    throw new InvalidArgumentError(`deliver(): startAt must be "start" or "now", not ${describeValue(startAt)}.`);
  return {
    startAt,
    redact,
    maxAttempts: parseNumber(given.maxAttempts ?? numbers.maxAttempts, 'maxAttempts', 1),
    firstDelayMs: parseNumber(given.firstDelayMs ?? numbers.firstDelayMs, 'firstDelayMs', 0),
    maxDelayMs: parseNumber(given.maxDelayMs ?? numbers.maxDelayMs, 'maxDelayMs', 0),
    timeoutMs: parseNumber(given.timeoutMs ?? numbers.timeoutMs, 'timeoutMs', 1),
    concurrency: parseNumber(given.concurrency ?? numbers.concurrency, 'concurrency', 1),
    ...(tenant !== undefined && { tenant }),
    ...(types !== undefined && { types }),
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
