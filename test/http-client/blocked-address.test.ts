import { describe, expect, it } from 'vitest';
import { classifyHost, isBlockedAddress } from '../../src/core/network/blocked-address.ts';
import { parseIpLiteral } from '../../src/core/network/ip-address.ts';

/** First and last address of every blocked IPv4 network, with its public neighbours. */
const IPV4_NETWORKS: [string, string, string | null, string | null][] = [
  ['0.0.0.0', '0.255.255.255', null, '1.0.0.0'],
  ['10.0.0.0', '10.255.255.255', '9.255.255.255', '11.0.0.0'],
  ['100.64.0.0', '100.127.255.255', '100.63.255.255', '100.128.0.0'],
  ['127.0.0.0', '127.255.255.255', '126.255.255.255', '128.0.0.0'],
  ['169.254.0.0', '169.254.255.255', '169.253.255.255', '169.255.0.0'],
  ['172.16.0.0', '172.31.255.255', '172.15.255.255', '172.32.0.0'],
  ['192.0.0.0', '192.0.0.255', '191.255.255.255', '192.0.1.0'],
  ['192.0.2.0', '192.0.2.255', '192.0.1.255', '192.0.3.0'],
  ['192.88.99.0', '192.88.99.255', '192.88.98.255', '192.88.100.0'],
  ['192.168.0.0', '192.168.255.255', '192.167.255.255', '192.169.0.0'],
  ['198.18.0.0', '198.19.255.255', '198.17.255.255', '198.20.0.0'],
  ['198.51.100.0', '198.51.100.255', '198.51.99.255', '198.51.101.0'],
  ['203.0.113.0', '203.0.113.255', '203.0.112.255', '203.0.114.0'],
  ['224.0.0.0', '239.255.255.255', '223.255.255.255', null],
  ['240.0.0.0', '255.255.255.255', null, null],
];

const BLOCKED_IPV6 = [
  '::',
  '::1',
  '0:0:0:0:0:0:0:1',
  '0000:0000:0000:0000:0000:0000:0000:0001',
  'fe80::',
  'fe80::1',
  'febf:ffff::1',
  'fec0::1',
  'feff::1',
  'fc00::1',
  'fdff:ffff::1',
  'ff00::1',
  'ff02::1',
  '2001:db8::1',
  '2001:db8:ffff:ffff:ffff:ffff:ffff:ffff',
  '2001::1',
  '2001:0:4136:e378:8000:63bf:3fff:fdd2',
  '2001:1ff::1',
  '3fff::1',
  '3fff:fff::1',
  '100::1',
  '4000::1',
  '5f00::1',
  '64:ff9b:1::8.8.8.8',
  '64:ff9b:1:a9fe:a9:fe00::',
  '::ffff:0:8.8.8.8',
];

const PUBLIC_IPV6 = [
  '2000::1',
  '2606:4700:4700::1111',
  '2001:200::1',
  '2001:4860:4860::8888',
  '2001:db7:ffff::1',
  '2001:db9::1',
  '2a00:1450:4001:81b::200e',
  '3ffe::1',
  '3fff:1000::1',
];

/** IPv6 forms that carry an IPv4 address, given as four hexadecimal bytes and as dotted text. */
function embeddings(dotted: string): string[] {
  const hex = dotted.split('.').map((part) => Number(part).toString(16).padStart(2, '0'));
  const groups = `${hex[0]}${hex[1]}:${hex[2]}${hex[3]}`;
  return [
    `::ffff:${dotted}`,
    `::ffff:${groups}`,
    `0:0:0:0:0:ffff:${groups}`,
    `::${dotted}`,
    `::${groups}`,
    `64:ff9b::${dotted}`,
    `64:ff9b::${groups}`,
    `2002:${groups}::1`,
    `2002:${groups}:0:0:0:0:0`,
  ];
}

/** Spellings of an IPv4 address that some resolver reads. */
function spellings(dotted: string): string[] {
  const bytes = dotted.split('.').map(Number);
  const [a = 0, b = 0, c = 0, d = 0] = bytes;
  const whole = ((a * 256 + b) * 256 + c) * 256 + d;
  const hex = bytes.map((byte) => `0x${byte.toString(16)}`);
  const octal = bytes.map((byte) => `0${byte.toString(8)}`);
  return [
    dotted,
    `${dotted}.`,
    String(whole),
    `0x${whole.toString(16)}`,
    `0X${whole.toString(16).toUpperCase()}`,
    `0x00000000${whole.toString(16)}`,
    `0${whole.toString(8)}`,
    `0000${whole.toString(8)}`,
    hex.join('.'),
    octal.join('.'),
    octal.map((part) => `00${part}`).join('.'),
    `${hex[0]}.${b}.${octal[2]}.${d}`,
    `${a}.${b * 65536 + c * 256 + d}`,
    `${a}.${b}.${c * 256 + d}`,
    `${hex[0]}.0x${(b * 65536 + c * 256 + d).toString(16)}`,
    `${octal[0]}.${b}.0${(c * 256 + d).toString(8)}`,
  ];
}

describe('address classification [NET-2]', () => {
  it.each(IPV4_NETWORKS)('blocks %s to %s and not the neighbours', (first, last, before, after) => {
    expect(isBlockedAddress(first)).toBe(true);
    expect(isBlockedAddress(last)).toBe(true);
    const neighbours = [before, after].filter((address) => address !== null);
    expect(neighbours.filter(isBlockedAddress)).toEqual([]);
  });

  it.each(BLOCKED_IPV6)('blocks %s', (address) => {
    expect(isBlockedAddress(address)).toBe(true);
    expect(isBlockedAddress(address.toUpperCase())).toBe(true);
    expect(classifyHost(`[${address}]`)).toBe('blocked_address');
  });

  it.each(PUBLIC_IPV6)('lets the public address %s pass', (address) => {
    expect(isBlockedAddress(address)).toBe(false);
    expect(classifyHost(`[${address}]`)).toBe('public_address');
  });

  it.each(IPV4_NETWORKS.flatMap(([first, last]) => [first, last]))(
    'judges every IPv6 form that carries %s by that address',
    (address) => {
      for (const form of embeddings(address)) expect([form, isBlockedAddress(form)]).toEqual([form, true]);
    },
  );

  it('lets IPv6 forms that carry a public IPv4 address pass', () => {
    for (const form of embeddings('8.8.4.4')) expect([form, isBlockedAddress(form)]).toEqual([form, false]);
  });

  it.each(['127.0.0.1', '10.1.2.3', '169.254.169.254', '172.16.0.9', '192.168.1.1', '0.0.0.0'])(
    'blocks %s in decimal, octal, hexadecimal and shortened notation',
    (address) => {
      for (const host of spellings(address))
        expect([host, classifyHost(host)]).toEqual([host, 'blocked_address']);
    },
  );

  it('knows public addresses in every notation', () => {
    for (const host of spellings('93.184.216.34')) {
      expect([host, classifyHost(host)]).toEqual([host, 'public_address']);
    }
  });

  it.each(['127.1', '127.0.1', '0x7f.1', '017700000001', '2130706433', '0', '0x', '0x.0x.0'])(
    'blocks the shortened literal %s',
    (host) => {
      expect(classifyHost(host)).toBe('blocked_address');
    },
  );

  it.each([
    'localhost',
    'LOCALHOST',
    'localhost.',
    'api.localhost',
    'a.b.localhost.',
    'internal',
    'metadata.google.internal',
    'metadata.google.internal.',
    'db.Internal',
    // Nothing a resolver should be asked about.
    '',
    '.',
    'a..b',
    'fe80::1%eth0',
    '[fe80::1%25eth0]',
    'exa mple.org',
    '１２７.0.0.1',
    '127。0。0。1',
    '①②⑦.0.0.1',
    'example.org/path',
    'user@example.org',
    // Numbers that the URL parser refuses and some resolver might not.
    '256.1.1.1',
    '1.2.3.4.5',
    '08.0.0.1',
    '0x7f.0.0.0.1',
    '4294967296',
    'a.0x7f',
    'example.123',
  ])('blocks the host %j', (host) => {
    expect(classifyHost(host)).toMatch(/^blocked/);
  });

  it.each([
    'example.org',
    'a.example.org.',
    'xn--bcher-kva.example',
    'my_host.example',
    'localhost.example.org',
    'internal.example.org',
    'notlocalhost',
    '1.example.org',
    '0x7f.example',
    '127.0.0.1e',
  ])('leaves the name %s to the resolver', (host) => {
    expect(classifyHost(host)).toBe('name');
  });

  it.each([
    '',
    'x',
    '::1::',
    '1::2::3',
    ':1',
    '1:',
    '1:2:3:4:5:6:7',
    '1:2:3:4:5:6:7:8:9',
    '1:2:3:4:5:6:7::8',
    '12345::',
    '::1.2.3',
    '::1.2.3.256',
    '1.2.3.4::',
    '::g',
    '::1%1',
    '::01.2.3.4',
  ])('blocks the answer %j, which is no address', (text) => {
    expect(isBlockedAddress(text)).toBe(true);
  });

  it('reads addresses into bytes', () => {
    expect(parseIpLiteral('1.2')).toEqual([1, 0, 0, 2]);
    expect(parseIpLiteral('1:2:3:4:5:6:7::')).toEqual([0, 1, 0, 2, 0, 3, 0, 4, 0, 5, 0, 6, 0, 7, 0, 0]);
    expect(parseIpLiteral('[::1.2.3.4]')).toEqual([...new Array(12).fill(0), 1, 2, 3, 4]);
    expect(parseIpLiteral('example.org')).toBeNull();
  });
});
