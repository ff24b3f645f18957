// The app that a server of the protocol knows, and how requests to it are signed.
// P1. The secret signs, and is never sent or shown.
import { describeValue, hmacSha256, InvalidArgumentError, md5 } from '../../lib/index.ts';

/** Key and secret of an app, as the server has them. */
export interface PusherKeys {
  readonly key: string;
  readonly secret: string;
}

/** An app on a server of the Pusher protocol. */
export interface PusherApp extends PusherKeys {
  readonly appId: string;
  /** Address of the server: `http://127.0.0.1:8080` for a Reverb on this machine, `https://api-eu.pusher.com` for Pusher. */
  readonly url: string;
}

/** A request to sign. */
interface SignedRequest extends PusherKeys {
  readonly path: string;
  readonly body: string;
  /** Time in milliseconds. */
  readonly at: number;
}

/** Returns the path of a POST request with its signature. */
export function toSignedPath({ key, secret, path, body, at }: SignedRequest): string {
  // Sorted by name, as the protocol wants it.
  const query = [`auth_key=${key}`, `auth_timestamp=${Math.floor(at / 1000)}`, 'auth_version=1.0', `body_md5=${md5(body)}`].join('&');
  return `${path}?${query}&auth_signature=${hmacSha256(secret, `POST\n${path}\n${query}`)}`;
}

/** Checks key and secret. */
export function parseKeys({ key, secret }: PusherKeys, maker: string): PusherKeys {
  const [shownKey, shownSecret]: [unknown, unknown] = [key, secret];
  if (typeof shownKey !== 'string' || !/^[\w-]+$/.test(shownKey))
    throw new InvalidArgumentError(`${maker} needs the key of an app, not ${describeValue(shownKey)}.`);
  if (typeof shownSecret !== 'string' || shownSecret === '')
    throw new InvalidArgumentError(`${maker} needs the secret of the app "${shownKey}". Take it from the settings of the server.`);
  return { key, secret };
}

/** Checks an app. Returns its address without a slash at its end. */
export function parseApp(app: PusherApp, maker: string): PusherApp {
  const [appId, url]: [unknown, unknown] = [app.appId, app.url];
  if (typeof appId !== 'string' || !/^[\w-]+$/.test(appId))
    throw new InvalidArgumentError(`${maker} needs the id of an app as text, not ${describeValue(appId)}.`);
  if (typeof url !== 'string' || !URL.canParse(url) || !/^https?:$/.test(new URL(url).protocol))
    throw new InvalidArgumentError(`${maker} needs the url of a server, such as "http://127.0.0.1:8080", not ${describeValue(url)}.`);
  return { appId, url: url.replace(/\/+$/, ''), ...parseKeys(app, maker) };
}
