import { describe, expect, it } from 'vitest';
import { createPeerFinder, isNetwork } from '../../../src/core/network/trusted-proxies.ts';

describe('who has asked behind proxies', () => {
  const find = createPeerFinder(['10.0.0.0/9', '203.0.113.7', '2001:db8::/33']);

  it.each([
    ['198.51.100.1', '192.0.2.1', '198.51.100.1', 'is the peer itself where it is no trusted proxy'],
    ['10.0.0.1', '192.0.2.1', '192.0.2.1', 'is whom a trusted proxy was asked by'],
    ['10.127.255.255', '192.0.2.1', '192.0.2.1', 'in the last address of the network'],
    ['10.128.0.0', '192.0.2.1', '10.128.0.0', 'in the first address after the network'],
    ['::ffff:10.0.0.1', '192.0.2.1', '192.0.2.1', 'where IPv4 comes over an IPv6 socket'],
    ['2001:db8:7fff::1', '2a00::1', '2a00::1', 'in a network of IPv6'],
    ['2001:db8:8000::1', '2a00::1', '2001:db8:8000::1', 'beyond a network of IPv6'],
    [
      '10.0.0.1',
      '192.0.2.9, 192.0.2.1, 203.0.113.7',
      '192.0.2.1',
      'is the last that is not trusted, not what it claims',
    ],
    ['10.0.0.1', '10.0.0.3,10.0.0.2', '10.0.0.3', 'is the first where all are trusted'],
    ['10.0.0.1', 'unknown, 10.0.0.2', '10.0.0.2', 'is the last proxy where it was told nonsense'],
    ['10.0.0.1', '', '10.0.0.1', 'is the proxy where it is told nothing'],
    ['', '192.0.2.1', '', 'is unknown where the host does not know its peer'],
  ])('%s, told %s, is %s: it %s', (peer, forwarded, found) => {
    expect(find(peer, forwarded)).toBe(found);
  });

  it('is never what is forwarded where nobody is trusted', () => {
    expect(createPeerFinder([])('10.0.0.1', '192.0.2.1')).toBe('10.0.0.1');
    expect(find('10.0.0.1', null)).toBe('10.0.0.1');
  });

  it.each(['10.0.0.0/8', '10.0.0.1', '0.0.0.0/0', '::/0', '2001:db8::1/128'])('%s is a network', (text) => {
    expect(isNetwork(text)).toBe(true);
  });

  it.each(['', '10.0.0.0/33', '10.0.0.0/8/8', '10.0.0.0/', '10.0.0.0/x', '::/129', 'proxy.example.com'])(
    '"%s" is none',
    (text) => {
      expect(isNetwork(text)).toBe(false);
    },
  );
});
