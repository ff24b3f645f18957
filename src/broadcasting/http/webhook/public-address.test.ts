import { describe, expect, it } from 'vitest';
import { isPublicAddress, mayBePublic } from './public-address.ts';

describe('isPublicAddress()', () => {
  it.each([
    ...['1.1.1.1', '9.255.255.255', '11.0.0.0', '100.63.255.255', '100.128.0.0', '172.15.255.255', '172.32.0.0', '192.0.1.0'],
    ...['169.253.255.255', '192.167.255.255', '192.169.0.0', '198.17.0.0', '198.20.0.0', '223.255.255.255', '168.63.129.15'],
    ...['2606:4700::1111', '2001:200::', '2a00::1', '3ffe::1', '::ffff:1.1.1.1', '64:ff9b::101:101'],
  ])('is true for %s', (address) => {
    expect(isPublicAddress(address)).toBe(true);
  });

  it.each([
    ...['0.0.0.0', '0.1.2.3', '10.0.0.1', '100.64.0.1', '100.100.100.200', '127.0.0.1', '127.255.255.255', '169.254.169.254', '172.16.0.1'],
    ...['172.31.255.255', '192.0.0.170', '192.0.2.1', '192.88.99.1', '192.168.0.1', '198.18.0.1', '198.19.255.255', '198.51.100.1'],
    ...['203.0.113.1', '224.0.0.1', '239.255.255.255', '240.0.0.1', '255.255.255.255', '168.63.129.16'],
    ...['::', '::1', '::127.0.0.1', '::ffff:127.0.0.1', '::ffff:7f00:1', '::ffff:a9fe:a9fe', '::ffff:0:127.0.0.1', '64:ff9b::7f00:1'],
    ...['64:ff9b:1::1', '100::1', '2001::1', '2001:db8::1', '2002:7f00:1::', '3fff::1', '5f00::1', 'fc00::1', 'fd00:ec2::254'],
    ...['fe80::1', 'fe80::1%eth0', 'fec0::1', 'ff02::1', '4000::1', '', 'nonsense', '1.2.3.4.5'],
  ])('is false for %j', (address) => {
    expect(isPublicAddress(address)).toBe(false);
  });
});

describe('mayBePublic()', () => {
  it.each(['http://office.example', 'https://8.8.8.8', 'http://134744072', 'http://[2606:4700::1111]', 'http://localhost.example'])(
    'is true for %s',
    (url) => {
      expect(mayBePublic(new URL(url))).toBe(true);
    },
  );

  it.each([
    ...['http://2130706433', 'http://0x7f000001', 'http://0177.0.0.1', 'http://127.1', 'http://127.0.0.1.', 'http://０.0.0.0', 'http://0'],
    ...['http://localhost', 'http://LOCALHOST.', 'http://a.localhost', 'http://printer.local', 'http://metadata.google.internal'],
    ...['http://redis', 'http://router.home.arpa', 'http://[::1]', 'http://[::ffff:10.0.0.1]', 'http://[fe80::1]'],
  ])('is false for %s', (url) => {
    expect(mayBePublic(new URL(url))).toBe(false);
  });
});
