import { Agent, request as httpRequest } from 'node:http';
import type { Role } from '@palisade/contract/auth';
import { problemSchema } from '@palisade/contract/problem';
import { assignSubscription } from '@palisade/contract/subscription';
import { EICAR } from '@palisade/scanner/test/files';
import fc from 'fast-check';
import { afterAll, expect, test } from 'vitest';
import { z } from 'zod';
import { type AnyEndpoint, allEndpoints } from './endpoints.ts';
import { startListeningScanningApp } from './harness.ts';
import { hostileStrings, PLACEHOLDER, valuesFor } from './hostile.ts';
import { updateRows } from './rows.ts';

/** 10,000 calls in all. */
const RUNS = 100;
const CALLS_PER_RUN = 100;
/** Everything that 10,000 calls of four people in a minute meet. */
const UNLIMITED = [
  'pair',
  'spray',
  'distributed',
  'recovery',
  'read',
  'write',
  'upload',
  'expensive',
  'admin',
  'register.source',
  'recovery.source',
]
  .map((name) => `${name}=1000000/1m`)
  .join(',');
/** Calls under way at once. */
const AT_ONCE = 8;
/** Time after which a call counts as hanging, in ms. */
const PATIENCE_MS = 20_000;
const IDS_MAXIMUM = 400;
const UUID = /[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[0-9a-f]{4}-[0-9a-f]{12}/g;
/** Each of these costs a password hash, or ends the session that the next calls need. */
const DEAR = /^(POST \/auth\/(login|register|logout|reset-password|change-password)|DELETE \/auth\/)/;

interface Person {
  name: string;
  role: Role;
  token: string;
  /** Stands in everything that is this person's, and nowhere else. */
  mark: string;
}

interface Attempt {
  key: string;
  person: number;
  /** Text of the body, and of the part of the URL behind the path. */
  body: string | undefined;
  query: string;
  ids: readonly string[];
  header: 'right' | 'none' | 'wrong token' | 'wrong type';
}

interface Reply {
  status: number;
  type: string;
  text: string;
}

const agent = new Agent({ keepAlive: true, maxSockets: AT_ONCE });
afterAll(() => agent.destroy());

const endpoints = (await allEndpoints()).filter(({ path }) => path !== '/events');
const byKey = new Map(endpoints.map((endpoint) => [endpoint.key, endpoint]));
const text = (value: unknown) => JSON.stringify(value) ?? 'undefined';

const multipart = fc
  .tuple(hostileStrings, fc.constantFrom(EICAR, Buffer.from('harmless'), Buffer.alloc(0), Buffer.from('PK\u0003\u0004')))
  .map(
    ([name, content]) =>
      `--palisade\r\nContent-Disposition: form-data; name="file"; filename="${name.replace(/["\r\n]/g, '')}"\r\n\r\n${content.toString('latin1')}\r\n--palisade--\r\n`,
  );

function bodyFor(endpoint: AnyEndpoint): fc.Arbitrary<string | undefined> {
  if (endpoint.upload !== undefined)
    return fc.oneof({ weight: 9, arbitrary: multipart }, { weight: 1, arbitrary: hostileStrings });
  if (endpoint.body === undefined)
    return fc.oneof({ weight: 9, arbitrary: fc.constant(undefined) }, { weight: 1, arbitrary: fc.constant('{}') });
  const broken = fc.constantFrom('', '{', '[', '"', '{"a":', '\u0000', '['.repeat(5_000), `{"x":"${'y'.repeat(300_000)}"}`);
  return fc.oneof({ weight: 20, arbitrary: valuesFor(endpoint.body).map(text) }, { weight: 1, arbitrary: broken });
}

function queryFor({ query }: AnyEndpoint): fc.Arbitrary<string> {
  const junk = hostileStrings.map((value) => `?${new URLSearchParams([[value, value]])}`.slice(0, 4_000));
  const none = { weight: 3, arbitrary: fc.constant('') };
  if (query === undefined) return fc.oneof({ weight: 12, arbitrary: fc.constant('') }, { weight: 1, arbitrary: junk });
  const right = valuesFor(query).map((value) => {
    const search = new URLSearchParams();
    if (typeof value === 'object' && value !== null) {
      for (const [name, part] of Object.entries(value)) search.append(name, typeof part === 'string' ? part : text(part));
    }
    return `?${search}`.slice(0, 4_000);
  });
  return fc.oneof(none, { weight: 4, arbitrary: right }, { weight: 1, arbitrary: junk });
}

function attemptOf(endpoint: AnyEndpoint): fc.Arbitrary<Attempt> {
  return fc.record({
    key: fc.constant(endpoint.key),
    person: fc.nat(3),
    body: bodyFor(endpoint),
    query: queryFor(endpoint),
    ids: fc.array(
      fc.oneof(
        { weight: 8, arbitrary: fc.nat(100_000).map((number) => `@id:${number}@`) },
        { weight: 1, arbitrary: hostileStrings.map((value) => encodeURIComponent(value.toWellFormed()).slice(0, 2_000)) },
      ),
      { minLength: 2, maxLength: 2 },
    ),
    header: fc.constantFrom('right', 'right', 'right', 'right', 'right', 'right', 'right', 'none', 'wrong token', 'wrong type'),
  });
}

const attempts = fc.oneof(
  ...endpoints.map((endpoint) => ({ weight: DEAR.test(endpoint.key) ? 1 : 12, arbitrary: attemptOf(endpoint) })),
);

// proves: security-25
test('10,000 calls with hostile values, in any order, by several people: never a 500, never a hang, never another person’s data', async () => {
  // Limits have tests of their own; here normal use must not be refused.
  const app = await startListeningScanningApp({ environment: { LIMITS: UNLIMITED } });
  const people: Person[] = [];
  for (const [name, role] of [
    ['alice', 'customer'],
    ['bob', 'customer'],
    ['sam', 'support'],
    ['ada', 'admin'],
  ] as const) {
    const mark = `mark-of-${name}`;
    people.push({ name, role, mark, token: (await app.signIn(mark, role)).token });
  }
  const staff = people[3];
  if (staff === undefined) throw new Error('nobody is there');
  const ids: string[] = [];
  const emails = [...people.map(({ mark }) => `${mark}@example.com`), 'nobody@example.com', 'NOT AN EMAIL'];

  const send = (path: string, method: string, headers: Record<string, string>, body: string | undefined): Promise<Reply> =>
    new Promise((resolve, reject) => {
      const bytes = Buffer.from(body ?? '', 'utf8');
      // A body that is not announced is no body: it would be read as the next request.
      const length = body === undefined ? {} : { 'content-length': bytes.length };
      const options = { method, headers: { ...headers, ...length }, agent, timeout: PATIENCE_MS };
      const sent = httpRequest(`${app.url}${path}`, options, (response) => {
        const parts: Buffer[] = [];
        response.on('data', (part: Buffer) => parts.push(part));
        response.once('error', reject);
        response.once('end', () =>
          resolve({
            status: response.statusCode ?? 0,
            type: response.headers['content-type'] ?? '',
            text: Buffer.concat(parts).toString('utf8'),
          }),
        );
      });
      sent.once('timeout', () => sent.destroy(new Error('It hangs.')));
      sent.once('error', reject);
      sent.end(bytes);
    });

  /** A person who was signed out, demoted or disabled by a call is restored. */
  async function revive(person: Person): Promise<void> {
    const email = `${person.mark}@example.com`;
    await updateRows(app.app.database, 'users', { email }, { role: person.role, disabled_at: null });
    person.token = (await app.signIn(person.mark, person.role)).token;
  }

  const fill = (template: string) =>
    template.replaceAll(PLACEHOLDER, (_, kind: string, number: string) => {
      const pool = kind === 'id' ? ids : emails;
      return pool[Number(number) % pool.length] ?? '';
    });

  const statuses = new Map<number, number>();
  async function make({ key, person: index, body, query, ids: named, header }: Attempt): Promise<void> {
    const person = people[index];
    const endpoint = byKey.get(key);
    if (person === undefined || endpoint === undefined) throw new Error('There is no such person or endpoint.');
    let next = 0;
    const path = fill(`/api${endpoint.path.replaceAll(/\{\w+\}/g, () => named[next++] ?? 'x')}${query}`);
    const sent = body === undefined ? undefined : fill(body);
    const right = endpoint.upload === undefined ? 'application/json' : 'multipart/form-data; boundary=palisade';
    const headers: Record<string, string> = {
      ...(header === 'none' ? {} : { authorization: `Bearer ${header === 'wrong token' ? 'A'.repeat(43) : person.token}` }),
      ...(sent === undefined ? {} : { 'content-type': header === 'wrong type' ? 'text/plain' : right }),
    };
    const what = `${endpoint.method} ${path.slice(0, 300)} as ${person.name} ${(sent ?? '').slice(0, 500)}`;
    const reply = await send(path, endpoint.method, headers, sent).catch((error: unknown) => {
      throw new Error(`${what}: ${String(error)}`, { cause: error });
    });
    statuses.set(reply.status, (statuses.get(reply.status) ?? 0) + 1);
    expect(reply.status, `${what}\n${reply.text.slice(0, 500)}`).not.toBe(500);
    if (reply.status >= 400) {
      expect(reply.type, `${what}\n${reply.text.slice(0, 500)}`).toBe('application/problem+json; charset=utf-8');
      const problem = problemSchema.parse(JSON.parse(reply.text));
      expect(problem.status, what).toBe(reply.status);
      if (problem.code === 'unauthenticated' && header === 'right' && endpoint.access !== 'anyone') await revive(person);
    } else {
      expect(reply.status, what).toBe(endpoint.status);
    }
    // The access table decides about the others; an administrator's call may have changed a role.
    if (person.role === 'customer' && endpoint.access === 'customer') {
      // Customers read the name of who has answered them.
      const shown = reply.text.replaceAll(/"(?:agent|author)":"[^"]*"|UTC, [^\n]*:/gu, '');
      for (const other of people) {
        if (other === person || `${path}${sent ?? ''}`.includes(other.mark)) continue;
        expect(shown.includes(other.mark), `${what}\nanswers what is ${other.name}'s: ${reply.text.slice(0, 500)}`).toBe(false);
      }
    }
    for (const [id] of reply.text.matchAll(UUID)) {
      if (ids.length < IDS_MAXIMUM) ids.push(id);
      else ids[Number.parseInt(id.slice(-6), 16) % IDS_MAXIMUM] = id;
    }
  }

  // Everybody has data of their own that the others could come to see.
  for (const person of people) {
    const asPerson = { authorization: `Bearer ${person.token}` };
    const asJson = { ...asPerson, 'content-type': 'application/json' };
    const file = `--palisade\r\nContent-Disposition: form-data; name="file"; filename="${person.mark}.com"\r\n\r\n${EICAR.toString('latin1')}\r\n--palisade--\r\n`;
    const rule = { rule_name: person.mark, direction: 'inbound', action: 'allow', protocol: 'tcp', port: '443' };
    const plan = {
      plan_name: person.mark,
      price: 1,
      duration_months: 12,
      max_devices: 1,
      is_premium: true,
      features: [],
    } as const;
    await app.call(assignSubscription, {
      token: staff.token,
      body: { ...plan, features: [], user_email: `${person.mark}@example.com` },
    });
    const made = [
      await send('/api/antivirus/scan', 'POST', { ...asPerson, 'content-type': 'multipart/form-data; boundary=palisade' }, file),
      await send('/api/firewall/rules', 'POST', asJson, JSON.stringify({ source_ip: '*', destination_ip: '*', ...rule })),
      await send('/api/chat/messages', 'POST', asJson, JSON.stringify({ message: person.mark, sender: 'user' })),
      await send('/api/remote/session', 'POST', asPerson, undefined),
      await send('/api/auth/sessions', 'GET', asPerson, undefined),
    ];
    for (const reply of made) {
      expect(reply.status, reply.text).toBeLessThan(300);
      ids.push(...(reply.text.match(UUID) ?? []));
    }
  }

  const seed = z.coerce.number().optional().parse(process.env['FUZZ_SEED']) ?? 20_261_126;
  await fc.assert(
    fc.asyncProperty(fc.array(attempts, { minLength: CALLS_PER_RUN, maxLength: CALLS_PER_RUN }), async (calls) => {
      const waiting = calls[Symbol.iterator]();
      const work = async () => {
        for (const call of waiting) await make(call);
      };
      await Promise.all(Array.from({ length: AT_ONCE }, work));
    }),
    { numRuns: RUNS, seed, endOnFailure: true },
  );

  // Far more was let in than a test that meets nothing but refusals would show.
  expect([...statuses.values()].reduce((sum, count) => sum + count, 0)).toBe(RUNS * CALLS_PER_RUN);
  expect((statuses.get(200) ?? 0) + (statuses.get(201) ?? 0) + (statuses.get(204) ?? 0)).toBeGreaterThan(1_000);
  if (process.env['FUZZ_SAY'] !== undefined) process.stdout.write(`${JSON.stringify([...statuses])}\n`);
}, 300_000);
