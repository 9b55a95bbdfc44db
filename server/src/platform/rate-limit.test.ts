// proves: asvs-16.3.3
import { simulateThreat } from '@palisade/contract/anti-hacking';
import { listAllBlocks } from '@palisade/contract/blocks';
import { listRules } from '@palisade/contract/firewall';
import { readConfig, readHealth } from '@palisade/contract/platform';
import { pino } from 'pino';
import { afterAll, beforeEach, describe, expect, test } from 'vitest';
import { connectionLimits } from './connections.ts';
import { createMemoryCounters } from './counters.ts';
import { openDatabase } from './database.ts';
import { createHttp, PATIENCE } from './http.ts';
import { createRateLimits } from './rate-limit.ts';
import { createRequestWatch } from './request-watch.ts';
import type { SecurityEvent } from './security-event.ts';
import { serve } from './serve.ts';
import { createSessions, type PersonTables, type Session, type Sessions, type SessionTables } from './session.ts';
import { parseSettings } from './settings.ts';

const MINUTE = 60_000;
const LIMITS = 'read=3/1m,read.source=5/1m,expensive=1/1m,admin=2/1m';

let clock = 0;
const now = () => clock;
const events: SecurityEvent[] = [];
const observe = async (event: SecurityEvent) => void events.push(event);

const fastify = await createHttp({
  logger: pino({ level: 'silent' }),
  trusted_proxies: ['127.0.0.1'],
  patience: PATIENCE,
  public_url: undefined,
  channels: [],
  connections: connectionLimits(),
  isShared: () => false,
  exposure: 'local',
  onArrival: () => {},
});
afterAll(() => fastify.close());

const watch = createRequestWatch({ observe, now });
watch.observeAll(fastify);
const limits = createRateLimits({
  counters: createMemoryCounters({ now }),
  limits: parseSettings({ LIMITS }).limits,
  isShared: () => false,
  observe,
  now,
});
const sessionOf = (role: 'customer' | 'admin', id: string): Session => ({
  id: `session of ${id}`,
  user: { id, username: id, email: `${id}@example.com`, role },
  began: null,
  is_held: false,
  is_unproven: false,
  registered_at: '2026-11-20T10:00:00.000Z',
});
const database = openDatabase<SessionTables & PersonTables>({ sqlite: ':memory:' });
afterAll(() => database.destroy());
let looked_up = 0;
/** A token is a role and a name. */
const stored = createSessions({ database, lacksFactor: () => Promise.resolve(false), lacksProof: () => false, now });
const sessions: Sessions = Object.assign(stored, {
  recall: (token: string) =>
    token.startsWith('customer-known') ? sessionOf('customer', token.slice('customer-'.length)) : undefined,
  async resolve(token: string) {
    looked_up += 1;
    const [role, id = ''] = token.split('-');
    return role === 'customer' || role === 'admin' ? sessionOf(role, id) : undefined;
  },
});
const api = { fastify, sessions, limits, watch };
const config = {
  version: '3.7.9' as const,
  exposure: 'local' as const,
  open_local: false,
  demo: true,
  reset_delivery: 'response' as const,
  administrator: 'there' as const,
  provider_name: 'Palisade',
  support: { phone: '', email: '', promise: '' },
  links: { live_chat: null, remote_portal: null },
};
serve(api, readHealth, 'anyone', () => Promise.resolve({ status: 'ok' as const }));
serve(api, readConfig, 'anyone', () => Promise.resolve(config));
serve(api, listRules, 'customer', () => Promise.resolve([]));
serve(api, listAllBlocks, 'admin', () => Promise.resolve([]));
const no_premium = { current: () => Promise.resolve({ is_premium: false }) };
serve({ ...api, premium: no_premium }, simulateThreat, 'premium', () => Promise.reject(new Error('It is not called.')));

let counter = 0;
function newSource(): string {
  counter += 1;
  return `203.0.113.${counter}`;
}

async function ask(
  url: string,
  { token, source = newSource(), method = 'GET' }: { token?: string; source?: string; method?: 'GET' | 'POST' } = {},
) {
  const headers = { 'x-forwarded-for': source, ...(token === undefined ? {} : { authorization: `Bearer ${token}` }) };
  const { statusCode, headers: answered, body } = await fastify.inject({ method, url, headers });
  return { status: statusCode, retry_after: answered['retry-after'], body };
}

beforeEach(() => {
  clock += 60 * MINUTE;
  events.length = 0;
});

// proves: asvs-2.3.2, asvs-2.4.1, security-31
describe('calls are limited', () => {
  test('by account, wherever they come from, with the time left and six events in a minute', async () => {
    const token = 'customer-maria';
    for (let time = 0; time < 3; time += 1) expect((await ask('/api/firewall/rules', { token })).status).toBe(200);
    const refused = await ask('/api/firewall/rules', { token });
    expect(refused).toMatchObject({ status: 429, retry_after: '20' });
    expect(refused.body).toContain('You sent too many requests at once. Try again in 20 seconds.');
    expect((await ask('/api/firewall/rules', { token: 'customer-zoe' })).status).toBe(200);
    expect(events).toMatchObject([{ kind: 'rate_limited', user_id: 'maria', data: { group: 'read' } }]);
    for (let time = 0; time < 9; time += 1) expect((await ask('/api/firewall/rules', { token })).status).toBe(429);
    expect(events).toHaveLength(6);
    clock += MINUTE;
    for (let time = 0; time < 3; time += 1) expect((await ask('/api/firewall/rules', { token })).status).toBe(200);
    for (let time = 0; time < 9; time += 1) await ask('/api/firewall/rules', { token });
    expect(events).toHaveLength(12);
  });

  test('by account in the same step as by source, for a token that was seen before, and no less', async () => {
    const token = 'customer-known-ida';
    const full = newSource();
    for (let time = 0; time < 5; time += 1) await ask('/api/config', { source: full });
    // A refusal for the source does not count for the account.
    for (let time = 0; time < 5; time += 1) expect((await ask('/api/firewall/rules', { source: full, token })).status).toBe(429);
    for (let time = 0; time < 3; time += 1) expect((await ask('/api/firewall/rules', { token })).status).toBe(200);
    expect(await ask('/api/firewall/rules', { token })).toMatchObject({ status: 429, retry_after: '20' });
    // A role without the right gets that refusal first, and was counted for its source.
    expect((await ask('/api/admin/blocks', { token: 'customer-known-eva' })).status).toBe(403);
  });

  test('a source that was refused a moment ago has nothing looked up', async () => {
    const [source, token] = [newSource(), 'customer-rita'];
    for (let time = 0; time < 6; time += 1) await ask('/api/firewall/rules', { source, token: 'x' });
    looked_up = 0;
    for (let time = 0; time < 9; time += 1) expect((await ask('/api/firewall/rules', { source, token })).status).toBe(429);
    expect(looked_up).toBe(0);
    expect((await ask('/api/firewall/rules', { token })).status).toBe(200);
    expect(looked_up).toBe(1);
    clock += MINUTE;
    expect((await ask('/api/firewall/rules', { source, token })).status).toBe(200);
  });

  test('by source, for every account and token', async () => {
    const source = newSource();
    for (let time = 0; time < 5; time += 1) expect((await ask('/api/firewall/rules', { source, token: 'x' })).status).toBe(401);
    expect((await ask('/api/firewall/rules', { source, token: 'customer-pia' })).status).toBe(429);
    expect((await ask('/api/config', { source })).status).toBe(429);
    expect((await ask('/api/config')).status).toBe(200);
    expect(events).toMatchObject([1, 2].map(() => ({ kind: 'rate_limited', user_id: null, source, data: { group: 'read' } })));
  });

  test('limits each group separately, and never limits monitoring', async () => {
    const [source, token] = [newSource(), 'admin-boss'];
    expect((await ask('/api/admin/blocks', { source, token })).status).toBe(200);
    expect((await ask('/api/admin/blocks', { source, token })).status).toBe(200);
    expect((await ask('/api/admin/blocks', { source, token })).status).toBe(429);
    expect((await ask('/api/firewall/rules', { source, token })).status).toBe(200);
    const drill = { source, token, method: 'POST' } as const;
    expect((await ask('/api/premium/anti-hacking/simulate-threat', drill)).status).toBe(403);
    expect((await ask('/api/premium/anti-hacking/simulate-threat', drill)).status).toBe(429);
    for (let time = 0; time < 40; time += 1) expect((await ask('/api/health', { source })).status).toBe(200);
  });
});

// proves: asvs-16.3.3, security-30
describe('requests that no page makes are reported', () => {
  const told = () =>
    events.map((event) => (event.kind === 'request_refused' ? { user_id: event.user_id, ...event.data } : event.kind));

  test('unknown addresses of the API, and probes', async () => {
    expect((await ask('/api/no/such?secret=1')).status).toBe(404);
    expect((await ask('/wp-login.php')).status).toBe(404);
    expect(told()).toEqual([
      { user_id: null, reason: 'unknown_path', path: '/api/no/such', pattern: null, was_refused: true },
      { user_id: null, reason: 'unknown_path', path: '/wp-login.php', pattern: null, was_refused: true },
    ]);
  });

  test('attacks that the address spells out', async () => {
    expect((await ask("/api/config?x=' or '1'='1")).status).toBe(200);
    expect((await ask("/api/firewall/rules?x=' or '1'='1")).status).toBe(401);
    const attack = { user_id: null, reason: 'exploit_string', pattern: 'sql_injection' };
    expect(told()).toEqual([
      { ...attack, path: '/api/config', was_refused: false },
      { ...attack, path: '/api/firewall/rules', was_refused: true },
    ]);
  });

  test("a customer's token at an administrator's endpoint, and no other refusal of one's own", async () => {
    expect((await ask('/api/admin/blocks', { token: 'customer-eve' })).status).toBe(403);
    expect((await ask('/api/admin/blocks', { token: 'nobody' })).status).toBe(401);
    expect((await ask('/api/firewall/rules?limit=x', { token: 'customer-eve' })).status).toBe(422);
    expect((await ask('/some/page')).status).toBe(404);
    expect(told()).toEqual([
      { user_id: 'eve', reason: 'admin_endpoint', path: '/api/admin/blocks', pattern: null, was_refused: true },
    ]);
  });
});
