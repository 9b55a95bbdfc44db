import { JSON_BODY_MAXIMUM } from '@palisade/contract/constants';
import { describe, expect, test } from 'vitest';
import { z } from 'zod';
import { enrol } from './agent-double.ts';
import { type AnyEndpoint, allEndpoints } from './endpoints.ts';
import { startTestApp } from './harness.ts';
import { DEAR_TEXTS, filled, membersOf, valid } from './worst-bodies.ts';

/** The most of the main thread's processor time that one request may take, in ms. All that a request takes is more than the longest while that it takes at once. */
const HELD_MS = 50;
/** A measure over the bound is taken again: the garbage collector's work meanwhile is not the request's. The least counts. */
const TRIES = 10;
const BYTES = JSON_BODY_MAXIMUM - 2_048;
const UNLIMITED = ['pair', 'spray', 'distributed', 'recovery', 'read', 'write', 'upload', 'expensive', 'admin', 'sign_in.source']
  .concat(['read.source', 'write.source', 'expensive.source', 'admin.source', 'register.source', 'recovery.source'])
  .map((name) => `${name}=1000000/1m`)
  .join(',');

const endpoints = (await allEndpoints()).filter(({ hasBody }) => hasBody);
const { app, signIn, call } = await startTestApp({ environment: { LIMITS: UNLIMITED } });
const { token } = await signIn('worst-bodies', 'admin');
const device = await enrol({ call }, token);

/** The worst bodies that fit the limit, by their fault. */
function* bodiesFor(schema: z.ZodType): Generator<[string, string]> {
  const text = (value: unknown) => JSON.stringify(value ?? null);
  for (let turn = 0; turn < 5; turn += 1) {
    yield [`valid entries ${turn}`, text(filled(schema, valid, BYTES, turn))];
    yield [`empty objects ${turn}`, text(filled(schema, () => ({}), BYTES, turn))];
    yield [`nulls ${turn}`, text(filled(schema, () => null, BYTES, turn))];
    yield [`texts ${turn}`, text(filled(schema, () => '\u0001x', BYTES, turn))];
  }
  const names = membersOf(schema);
  const without = filled(schema, valid, 2_000, 0);
  const base: object = typeof without === 'object' && without !== null ? without : {};
  for (const name of names) {
    const room = BYTES - text(base).length;
    yield [`${name}: a list of objects`, text({ ...base, [name]: Array.from({ length: room / 3 }, () => ({})) })];
    yield [`${name}: 10,000 objects`, text({ ...base, [name]: Array.from({ length: 10_000 }, () => ({})) })];
    yield [`${name}: a list of texts`, text({ ...base, [name]: Array.from({ length: 12_000 }, () => 'x') })];
    for (const piece of DEAR_TEXTS) {
      const size = Math.floor(room / (JSON.stringify(piece).length - 2));
      yield [`${name}: ${JSON.stringify(piece)}`, text({ ...base, [name]: piece.repeat(size) })];
      yield [`${name}: 2,000 of ${JSON.stringify(piece)}`, text({ ...base, [name]: piece.repeat(2_000) })];
    }
  }
  yield [
    'members that nobody asked for',
    text(Object.fromEntries(Array.from({ length: 14_000 }, (_, at) => [`member${at}`, 0]))),
  ];
  yield ['nested lists', `${'['.repeat(BYTES / 2)}${']'.repeat(BYTES / 2)}`];
  yield ['a list', `[${'{},'.repeat(9_000)}{}]`];
  yield ['quotation marks', `"${'\\"'.repeat(BYTES / 2)}"`];
}

function withProof(endpoint: AnyEndpoint, body: string): { body: string; headers: Record<string, string> } {
  const json = { 'content-type': 'application/json' };
  if (!endpoint.by_device) return { body, headers: { ...json, authorization: `Bearer ${token}` } };
  return { body, headers: { ...json, authorization: `Bearer ${device.token}`, 'x-device-id': device.device_id } };
}

/** Processor time of this thread so far. ms. */
function usedMs(): number {
  const { user, system } = process.threadCpuUsage();
  return (user + system) / 1_000;
}

/** Time of a fixed piece of work. ms. */
function peerMs(): number {
  const before = usedMs();
  let mixed = 1;
  for (let step = 0; step < 3_000_000; step += 1) mixed = Math.imul(mixed ^ (mixed >>> 15), 2_246_822_519) + step;
  return usedMs() - before + (mixed === 0 ? 1 : 0);
}
let least_peer_ms = Number.POSITIVE_INFINITY;

/** The factor by which this processor is slower now than at its best in this run: its other thread slows it. At least 1. */
function slowdown(): number {
  const now = peerMs();
  least_peer_ms = Math.min(least_peer_ms, now);
  return now / least_peer_ms;
}
for (let turn = 0; turn < 30; turn += 1) slowdown();

/** The most processor time that passes between two turns of the event loop while something is done. ms. */
async function longestTurn<T>(work: () => Promise<T>): Promise<{ result: T; ms: number }> {
  let longest = 0;
  let last = usedMs();
  let is_done = false;
  const turn = () => {
    const now = usedMs();
    longest = Math.max(longest, now - last);
    last = now;
    if (!is_done) setImmediate(turn);
  };
  setImmediate(turn);
  const result = await work();
  is_done = true;
  turn();
  return { result, ms: longest };
}

async function held(endpoint: AnyEndpoint, sent: { body: string; headers: Record<string, string> }) {
  const url = `/api${endpoint.path.replaceAll(/\{\w+\}/g, '01890a5d-ac96-774b-bcce-b302099a8057')}`;
  const method = z.enum(['POST', 'PUT', 'PATCH', 'DELETE']).parse(endpoint.method);
  let least = Number.POSITIVE_INFINITY;
  let bytes = 0;
  for (let attempt = 0; attempt < TRIES && least > HELD_MS; attempt += 1) {
    const { result: answer, ms } = await longestTurn(() =>
      app.fastify.inject({ method, url, headers: sent.headers, payload: sent.body }),
    );
    least = Math.min(least, ms > HELD_MS ? ms / slowdown() : ms);
    if (answer.statusCode >= 400) bytes = Math.max(bytes, answer.payload.length);
    expect(answer.statusCode).toBeLessThan(500);
  }
  return { least, bytes };
}

describe('the main thread', () => {
  const worst: { ms: number; what: string }[] = [];

  test.each(endpoints.map((endpoint) => [endpoint.key, endpoint] as const))(
    'is not held longer than 50 ms by the worst bodies: %s',
    { timeout: 300_000 },
    async (key, endpoint) => {
      const { body: schema } = endpoint;
      if (schema === undefined) throw new Error(`${key} has no body.`);
      const over: string[] = [];
      for (const [what, body] of bodiesFor(schema)) {
        if (Buffer.byteLength(body) > JSON_BODY_MAXIMUM) continue;
        const { least, bytes } = await held(endpoint, withProof(endpoint, body));
        worst.push({ ms: least, what: `${key} ${what}` });
        if (least > HELD_MS) over.push(`${what}: ${least.toFixed(0)} ms`);
        if (bytes > 5 * 1024) over.push(`${what}: ${bytes} bytes of answer`);
      }
      expect(over).toEqual([]);
    },
  );

  test('was measured at every endpoint that takes a body', () => {
    const [first] = worst.toSorted((a, b) => b.ms - a.ms);
    console.log(
      `${worst.length} bodies at ${endpoints.length} endpoints; the longest ${first?.ms.toFixed(1)} ms: ${first?.what}`,
    );
    expect(worst.length).toBeGreaterThan(endpoints.length * 20);
  });
});
