// Tells public addresses from those that only a machine or its own network can reach.
// Does not: resolve names. Whoever connects does, and asks about the addresses that it got.

/** Ranges of IPv4 that are not public, as the number of leading bits that count: https://www.iana.org/assignments/iana-ipv4-special-registry. */
const privateRanges = [
  ...['0.0.0.0/8', '10.0.0.0/8', '100.64.0.0/10', '127.0.0.0/8', '169.254.0.0/16', '172.16.0.0/12', '192.0.0.0/24', '192.0.2.0/24'],
  ...['192.88.99.0/24', '192.168.0.0/16', '198.18.0.0/15', '198.51.100.0/24', '203.0.113.0/24', '224.0.0.0/4', '240.0.0.0/4'],
  // Azure answers every machine's questions about itself here, at a number that looks public.
  '168.63.129.16/32',
];

/** Names that lead to the machine itself or to its own network. */
const privateNames = /^[^.]*$|(^|\.)(localhost|local|internal|home\.arpa)$/;

const toNumber = (dotted: string): number => dotted.split('.').reduce((sum, part) => sum * 256 + Number(part), 0);

function isInRange(address: number, range: string): boolean {
  const [start = '', bits = ''] = range.split('/');
  const size = 2 ** (32 - Number(bits));
  return Math.floor(address / size) === Math.floor(toNumber(start) / size);
}

const isPublicV4 = (address: number): boolean => !privateRanges.some((range) => isInRange(address, range));

/** Returns the eight groups of an IPv6 address in the form that URL gives it. */
function toGroups(address: string): readonly number[] {
  const [head = [], tail = []] = address.split('::').map((side) => (side === '' ? [] : side.split(':')));
  const zeros = address.includes('::') ? Array<string>(8 - head.length - tail.length).fill('0') : [];
  return [...head, ...zeros, ...tail].map((group) => Number.parseInt(group, 16));
}

function isPublicV6(address: string): boolean {
  const [a = 0, b = 0, c, d, e, f, g = 0, h = 0] = toGroups(address);
  const isZero = c === 0 && d === 0 && e === 0;
  // An IPv4 address in other clothes: mapped (::ffff:0:0/96), or translated on a network without IPv4 (64:ff9b::/96).
  const isV4 = isZero && ((a === 0 && b === 0 && f === 0xffff) || (a === 0x64 && b === 0xff9b && f === 0));
  if (isV4) return isPublicV4(g * 65_536 + h);
  // Public addresses begin with 2 or 3; among those are tunnels with an IPv4 address inside (2001::/23, 2002::/16) and examples.
  const isSpecial = (a === 0x2001 && (b < 0x200 || b === 0xdb8)) || a === 0x2002 || (a === 0x3fff && b < 0x1000);
  return a >= 0x2000 && a < 0x4000 && !isSpecial;
}

/** True for an IP address that the whole internet can reach. False for one of a form that is not understood. */
export function isPublicAddress(address: string): boolean {
  const url = `http://${address.includes(':') ? `[${address}]` : address}`;
  // URL writes every form of an address in one way: 0x7f.1, 2130706433 and 127.0.0.1 are the same.
  const host = URL.canParse(url) ? new URL(url).hostname : '';
  if (host.startsWith('[')) return isPublicV6(host.slice(1, -1));
  return /^[\d.]+$/.test(host) && isPublicV4(toNumber(host));
}

/** True if the host of a URL is a public IP address, or a name that may have one. */
export function mayBePublic({ hostname }: URL): boolean {
  const name = hostname.replace(/\.$/, '');
  if (name.startsWith('[')) return isPublicAddress(name.slice(1, -1));
  return /^[\d.]+$/.test(name) ? isPublicAddress(name) : !privateNames.test(name);
}
