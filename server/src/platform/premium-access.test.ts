import { deleteSuppression } from '@palisade/contract/alerts';
import { readLastCheck, scanPosture } from '@palisade/contract/anti-hacking';
import { problemSchema } from '@palisade/contract/problem';
import { pino } from 'pino';
import { afterAll, expect, test } from 'vitest';
import { z } from 'zod';
import { connectionLimits } from './connections.ts';
import { createMemoryCounters } from './counters.ts';
import { openDatabase } from './database.ts';
import { createHttp, PATIENCE } from './http.ts';
import { createRateLimits } from './rate-limit.ts';
import { asWritten } from './sentence.ts';
import { serve } from './serve.ts';
import { createSessions, type PersonTables, type Sessions, type SessionTables } from './session.ts';
import { parseSettings } from './settings.ts';

const fastify = await createHttp({
  ...{ logger: pino({ level: 'silent' }), trusted_proxies: [], patience: PATIENCE, public_url: undefined, channels: [] },
  ...{ connections: connectionLimits(), isShared: () => false, exposure: 'local', onArrival: () => {} },
});
const database = openDatabase<SessionTables & PersonTables>({ sqlite: ':memory:' });
afterAll(async () => {
  await fastify.close();
  await database.destroy();
});

/** The token is the id of its person; the plan of `paying` has premium tools, until it expires. */
let has_expired = false;
const stored = createSessions({ database, lacksFactor: () => Promise.resolve(false), lacksProof: () => false, now: Date.now });
const sessions: Sessions = Object.assign(stored, {
  recall: () => undefined,
  resolve: (id: string) =>
    Promise.resolve({
      ...{ id: `session of ${id}`, user: { id, username: id, email: `${id}@example.com`, role: 'admin' as const } },
      ...{ began: null, is_held: false, is_unproven: false, registered_at: '2026-11-20T10:00:00.000Z' },
    }),
});
const api = {
  ...{ fastify, sessions, watch: { forbidden: () => {} } },
  limits: createRateLimits({
    counters: createMemoryCounters({ now: Date.now }),
    limits: parseSettings({}).limits,
    isShared: () => false,
    observe: () => Promise.resolve(),
    now: Date.now,
  }),
  premium: { current: (id: string) => Promise.resolve({ is_premium: id === 'paying' && !has_expired }) },
};

const called: string[] = [];
serve(api, readLastCheck, 'premium', ({ session }) => {
  called.push(session.user.id);
  return Promise.resolve({ last: null });
});
serve({ ...api, premium_sentence: asWritten('Checks need premium.') }, scanPosture, 'premium', () =>
  Promise.reject(new Error('It is not called.')),
);
serve<typeof deleteSuppression, { user_id: string }>(
  api,
  deleteSuppression,
  { find: () => Promise.resolve({ user_id: 'owner' }) },
  () => Promise.reject(new Error('It is not called.')),
);

async function refusal(method: 'GET' | 'POST' | 'DELETE', url: string, token: string) {
  const { statusCode, body } = await fastify.inject({ method, url: `/api${url}`, headers: { authorization: `Bearer ${token}` } });
  const { code, detail } = problemSchema.parse(JSON.parse(body));
  return { status: statusCode, code, detail };
}

test('a premium call is answered while the plan of its person has premium tools, whatever the role', async () => {
  const headers = { authorization: 'Bearer paying' };
  const { statusCode } = await fastify.inject({ url: `/api${readLastCheck.path}`, headers });
  expect([statusCode, called]).toEqual([200, ['paying']]);
  has_expired = true;
  expect(await refusal('GET', readLastCheck.path, 'paying')).toEqual({
    status: 403,
    code: 'premium_required',
    detail: 'Premium subscription required for anti-hacking features',
  });
  expect(called).toEqual(['paying']);
});

test('a premium call can be refused in a sentence of its own', async () => {
  expect(await refusal('POST', scanPosture.path, 'free')).toEqual({
    status: 403,
    code: 'premium_required',
    detail: 'Checks need premium.',
  });
});

test('a record of another person is not found before the plan is read', async () => {
  const path = deleteSuppression.path.replace('{id}', '01890a5d-ac96-774b-bcce-b302099a8057');
  expect((await refusal('DELETE', path, 'owner')).code).toBe('premium_required');
  expect((await refusal('DELETE', path, 'stranger')).code).toBe('not_found');
});

test('the API description names premium calls, and their refusal', async () => {
  const operationSchema = z.object({
    description: z.string(),
    responses: z.record(z.string(), z.object({ description: z.string() })),
  });
  const { paths } = z
    .object({ paths: z.record(z.string(), z.record(z.string(), operationSchema)) })
    .parse(JSON.parse(JSON.stringify(fastify.swagger())));
  const { description, responses } = paths[`/api${readLastCheck.path}`]?.['get'] ?? { description: '', responses: {} };
  expect(description).toBe('Needs a plan with premium tools.');
  expect(responses['403']?.description).toContain('`premium_required`');
});

test('a premium endpoint is not served where nothing reads plans', () => {
  const { premium: _, ...without } = api;
  expect(() => serve(without, scanPosture, 'premium', () => Promise.reject(new Error('It is not called.')))).toThrow(
    'Nothing reads plans',
  );
});
