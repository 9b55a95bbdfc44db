import { randomBytes } from 'node:crypto';
import { currentUser, login, register } from '@palisade/contract/auth';
import { beforeEach, describe, expect, test, vi } from 'vitest';
import { type Answer, COUNTED_IN_MEMORY, problemOf, readAnswer, startTestApp } from '#test/harness.ts';
import { refusalLength } from './blocks.ts';
import { delayOf } from './login-guard.ts';

const MINUTE = 60_000;
const DAY = 86_400_000;
const PASSWORD = 'a long enough password';

let clock = Date.parse('2026-11-20T10:00:00Z');
const pauses: number[] = [];
const { app, url, call } = await startTestApp({
  environment: { ...COUNTED_IN_MEMORY, TRUSTED_PROXIES: '127.0.0.1', LIMITS: 'spray=5/50s' },
  surroundings: { now: () => clock, pause: async (ms) => void pauses.push(ms) },
});

async function tryToSignIn(email: string, password: string, source: string): Promise<Answer<typeof login>> {
  const response = await fetch(`${url}/api/auth/login`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', 'x-forwarded-for': source },
    body: JSON.stringify({ email, password }),
  });
  return await readAnswer(login, response);
}

let counter = 0;
/** A source that no other test has used. */
function newSource(): string {
  counter += 1;
  return `203.0.${counter >> 8}.${counter & 255}`;
}

async function newAccount(): Promise<string> {
  const name = `person-${randomBytes(4).toString('hex')}`;
  await call(register, { body: { email: `${name}@example.com`, username: name, password: PASSWORD } });
  return `${name}@example.com`;
}

async function fail(email: string, source: string, times: number): Promise<number[]> {
  const statuses: number[] = [];
  for (let time = 0; time < times; time += 1) statuses.push((await tryToSignIn(email, 'not it', source)).status);
  return statuses;
}

beforeEach(() => {
  // Attempts of earlier tests do not count any more.
  clock += 40 * DAY;
  pauses.length = 0;
});

// proves: asvs-6.3.1, security-12
describe('one account from one source', () => {
  test.each(['known', 'unknown'])(
    'is refused for 10 minutes after 5 wrong passwords, with the time left: %s email',
    async (kind) => {
      const email = kind === 'known' ? await newAccount() : 'nobody@example.com';
      const source = newSource();
      expect(await fail(email, source, 6)).toEqual([401, 401, 401, 401, 401, 429]);
      clock += 5 * MINUTE + 1;
      const refused = await tryToSignIn(email, PASSWORD, source);
      expect(problemOf(refused)).toMatchObject({
        code: 'too_many_requests',
        detail: 'Too many wrong passwords for this email. Try again in 5 minutes.',
      });
      expect(refused.headers.get('retry-after')).toBe('300');
      clock += 5 * MINUTE;
      expect((await tryToSignIn(email, PASSWORD, source)).status).toBe(kind === 'known' ? 200 : 401);
    },
  );

  test('is not refused one step below, nor for attempts longer ago than 10 minutes', async () => {
    const [email, source] = [await newAccount(), newSource()];
    expect(await fail(email, source, 4)).toEqual([401, 401, 401, 401]);
    clock += 10 * MINUTE;
    expect(await fail(email, source, 4)).toEqual([401, 401, 401, 401]);
    expect((await tryToSignIn(email, PASSWORD, source)).status).toBe(200);
  });

  test('of a hundred guesses at once has five looked at', async () => {
    const [email, source] = [await newAccount(), newSource()];
    const answers = await Promise.all(Array.from({ length: 100 }, (_, guess) => tryToSignIn(email, `guess ${guess}`, source)));
    expect(answers.filter(({ status }) => status === 401)).toHaveLength(5);
    expect(answers.filter(({ status }) => status === 429)).toHaveLength(95);
    expect(await fail(email, source, 1)).toEqual([429]);
  });

  test('starts from nothing after the right password', async () => {
    const [email, source] = [await newAccount(), newSource()];
    for (let round = 0; round < 3; round += 1) {
      expect(await fail(email, source, 4)).toEqual([401, 401, 401, 401]);
      expect((await tryToSignIn(email, PASSWORD, source)).status).toBe(200);
    }
  });

  test('is refused for longer each time, and for a week at the fifth in a day', async () => {
    const [email, source] = [await newAccount(), newSource()];
    const waits: number[] = [];
    for (let round = 0; round < 5; round += 1) {
      await fail(email, source, 5);
      const wait = Number((await tryToSignIn(email, PASSWORD, source)).headers.get('retry-after'));
      waits.push(wait / 60);
      clock += wait * 1_000;
    }
    expect(waits).toEqual([10, 20, 40, 80, 7 * 24 * 60]);
  });

  test('leaves the same account elsewhere, and other accounts there, alone', async () => {
    const [email, other, source] = [await newAccount(), await newAccount(), newSource()];
    await fail(email, source, 5);
    expect((await tryToSignIn(email, PASSWORD, newSource())).status).toBe(200);
    expect((await tryToSignIn(other, PASSWORD, source)).status).toBe(200);
  });

  test('leaves who is signed in there alone', async () => {
    const [email, source] = [await newAccount(), newSource()];
    const signedIn = await tryToSignIn(email, PASSWORD, source);
    const token = signedIn.ok ? signedIn.reply.access_token : '';
    expect(await fail(email, source, 6)).toContain(429);
    const headers = { authorization: `Bearer ${token}`, 'x-forwarded-for': source };
    expect((await fetch(`${url}/api${currentUser.path}`, { headers })).status).toBe(200);
  });

  test('is one source with the other addresses of its IPv6 network', async () => {
    const email = await newAccount();
    for (let host = 1; host <= 5; host += 1) await fail(email, `2001:db8:0:7::${host}`, 1);
    expect((await tryToSignIn(email, PASSWORD, '2001:db8:0:7:ffff::1')).status).toBe(429);
    expect((await tryToSignIn(email, PASSWORD, '2001:db8:0:8::1')).status).toBe(200);
  });
});

// proves: asvs-6.3.1
describe('many accounts from one source', () => {
  test('have the source refused at the fifth', async () => {
    const [email, source] = [await newAccount(), newSource()];
    for (let guess = 0; guess < 5; guess += 1) expect(await fail(`spray-${guess}@example.com`, source, 1)).toEqual([401]);
    const refused = await tryToSignIn(email, PASSWORD, source);
    expect(problemOf(refused).detail).toBe('Too many failed sign-ins from your network. Try again in 10 minutes.');
    expect((await tryToSignIn(email, PASSWORD, newSource())).status).toBe(200);
  });

  test('that are tried at once have it refused once, for 10 minutes', async () => {
    const source = newSource();
    await Promise.all(Array.from({ length: 25 }, (_, guess) => fail(`at-once-${guess}@example.com`, source, 1)));
    const refused = await tryToSignIn('at-once-0@example.com', PASSWORD, source);
    expect(refused.headers.get('retry-after')).toBe('600');
    expect(await app.database.selectFrom('blocks').select('level').where('source', '=', source).execute()).toEqual([
      { level: 1 },
    ]);
    clock += 10 * MINUTE;
    for (let guess = 0; guess < 5; guess += 1) await fail(`again-${guess}@example.com`, source, 1);
    expect((await tryToSignIn('at-once-0@example.com', PASSWORD, source)).headers.get('retry-after')).toBe('1200');
  });

  test('do not one step below: four, or one each ten seconds, or one account again and again', async () => {
    const [four, slow, again] = [newSource(), newSource(), newSource()];
    for (let guess = 0; guess < 4; guess += 1) await fail(`four-${guess}@example.com`, four, 1);
    expect(await fail('four-0@example.com', four, 1)).toEqual([401]);
    for (let guess = 0; guess < 12; guess += 1) {
      expect(await fail(`slow-${guess}@example.com`, slow, 1)).toEqual([401]);
      clock += 10_000;
    }
    expect(await fail('again@example.com', again, 5)).toEqual([401, 401, 401, 401, 401]);
    expect(await fail('another@example.com', again, 1)).toEqual([401]);
  });

  test('never have a whole private network refused', async () => {
    for (let guess = 0; guess < 8; guess += 1)
      expect(await fail(`lan-${guess}@example.com`, `fd00:1:2:3::${guess}`, 1)).toEqual([401]);
    expect(await fail('lan-0@example.com', 'fd00:1:2:3::9', 5)).toEqual([401, 401, 401, 401, 429]);
  });

  test('never have the machine itself refused in local exposure', async () => {
    for (let guess = 0; guess < 8; guess += 1) expect(await fail(`local-${guess}@example.com`, '127.0.0.1', 1)).toEqual([401]);
    expect(await fail('local-0@example.com', '127.0.0.1', 5)).toEqual([401, 401, 401, 401, 429]);
  });
});

// proves: asvs-6.3.1
describe('one account from many sources', () => {
  test.each(['known', 'unknown'])('is slowed down, and not refused: %s email', async (kind) => {
    const email = kind === 'known' ? await newAccount() : `nobody-${randomBytes(4).toString('hex')}@example.com`;
    const home = newSource();
    if (kind === 'known') expect((await tryToSignIn(email, PASSWORD, home)).status).toBe(200);
    for (let source = 0; source < 5; source += 1) expect(await fail(email, newSource(), 4)).toEqual([401, 401, 401, 401]);
    expect(pauses).toEqual([]);
    expect((await tryToSignIn(email, 'not it', newSource())).status).toBe(401);
    expect(pauses).toEqual([500]);
    if (kind === 'unknown') return;
    // A known place of the owner is not slowed down; from elsewhere they get in all the same.
    expect((await tryToSignIn(email, PASSWORD, home)).status).toBe(200);
    expect(pauses).toEqual([500]);
    expect((await tryToSignIn(email, PASSWORD, newSource())).status).toBe(200);
    expect(pauses).toEqual([500, 500]);
  });

  test('its owner gets one mail a day', async () => {
    const email = await newAccount();
    const mails = () => app.database.selectFrom('mails').select(['subject', 'text']).where('recipient', '=', email).execute();
    for (let source = 0; source < 6; source += 1) await fail(email, newSource(), 4);
    await vi.waitFor(async () => expect(await mails()).toMatchObject([{ subject: 'Palisade: Security alert, high severity' }]));
    expect((await mails())[0]?.text).toContain('We slow down further attempts. You can still sign in.');
    clock += DAY;
    for (let source = 0; source < 6; source += 1) await fail(email, newSource(), 4);
    await vi.waitFor(async () => expect(await mails()).toHaveLength(2));
  });
});

test.each([
  { level: 1, in_a_day: 1, minutes: 10 },
  { level: 2, in_a_day: 1, minutes: 20 },
  { level: 8, in_a_day: 4, minutes: 1_280 },
  { level: 9, in_a_day: 4, minutes: 1_440 },
  { level: 40, in_a_day: 1, minutes: 1_440 },
  { level: 5, in_a_day: 5, minutes: 10_080 },
])('refusal $level, $in_a_day of them in a day, takes $minutes minutes', ({ minutes, ...state }) => {
  expect(refusalLength(state)).toBe(minutes * MINUTE);
});

test('the wait grows to some seconds and no further', () => {
  expect([20, 29, 30, 40, 50, 900].map((failures) => delayOf(failures, 20))).toEqual([500, 500, 1_000, 2_000, 4_000, 4_000]);
});
