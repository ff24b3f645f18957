import { describeValue, InvalidArgumentError } from '../../lib/index.ts';

/** An app of the server: whoever has the secret may publish, and say who may listen. */
export interface PusherServerApp {
  readonly appId: string;
  readonly key: string;
  readonly secret: string;
  /** Lets pages send events to each other on private and presence channels. @default true */
  readonly allowsClientEvents?: boolean;
  /** @default no limit */
  readonly maxConnections?: number;
}

const isText = (value: unknown): boolean => typeof value === 'string' && value !== '';

/** Checks the apps of a server. */
export function parseApps(apps: readonly PusherServerApp[]): readonly PusherServerApp[] {
  const given: unknown = apps;
  if (!Array.isArray(given) || given.length === 0)
    throw new InvalidArgumentError(`startPusherServer() needs apps: a list of { appId, key, secret }, not ${describeValue(given)}.`);
  for (const { appId, key, secret } of apps)
    if (!isText(appId) || !isText(key) || !isText(secret))
      throw new InvalidArgumentError(
        `An app of startPusherServer() needs appId, key and secret as texts; "${appId}" does not have all of them.`,
      );
  return apps;
}
