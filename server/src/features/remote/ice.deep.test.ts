import { needing } from '@palisade/scanner/test/needs';
import { expect, test } from 'vitest';
import { relays, startCoturn } from '#test/coturn.ts';
import { HAS_COTURN, NO_COTURN } from '#test/coturn-process.ts';
import { iceOf } from './ice.ts';

const SECRET = 'a-secret-that-both-have';
const HOUR_MS = 3_600_000;
const of = (until: number) => ({ session_id: 'a-session', side: 'customer' as const, until });

test('without a relay there are no credentials, and none is announced', () => {
  expect(iceOf({ urls: [], secret: undefined }, of(0))).toEqual({ ice_servers: [], has_relay: false, expires_at: null });
  const urls = ['stun:stun.example.com:3478'];
  expect(iceOf({ urls, secret: undefined }, of(0))).toEqual({ ice_servers: [{ urls }], has_relay: false, expires_at: null });
});

if (!HAS_COTURN) process.stdout.write(`skipped: ${NO_COTURN}\n`);

needing('coturn', HAS_COTURN).describe('a real relay', { timeout: 60_000 }, () => {
  // proves: remote-9
  test('accepts clients with its credentials, and none with those of another secret, or expired ones', async () => {
    const { port } = await startCoturn(SECRET);
    const credentials = (secret: string, until: number) => {
      const relay = iceOf({ urls: [`turn:127.0.0.1:${port}`], secret }, of(until)).ice_servers[0];
      return { username: relay?.username ?? '', credential: relay?.credential ?? '' };
    };
    const soon = Date.now() + HOUR_MS;
    expect(await relays(port, credentials(SECRET, soon))).toBe(true);
    expect(await relays(port, credentials('another-secret-of-somebody', soon))).toBe(false);
    expect(await relays(port, credentials(SECRET, Date.now() - HOUR_MS))).toBe(false);
  });
});
