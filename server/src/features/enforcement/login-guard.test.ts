import { login } from '@palisade/contract/auth';
import { pino } from 'pino';
import { describe, expect, test } from 'vitest';
import { createMemoryCounters } from '#platform/counters.ts';
import { parseLimits } from '#platform/limits.ts';
import { Problem } from '#platform/problem.ts';
import { addPerson, auditKindsOf, featureAudit, featureDatabase } from '#test/feature-database.ts';
import { problemOf, startTestApp } from '#test/harness.ts';
import { createBlocks, refusalLength } from './blocks.ts';
import { createPasswordGuard } from './call-guard.ts';
import { createLoginGuard, delayOf } from './login-guard.ts';

const MINUTE = 60_000;
const DAY = 86_400_000;

const database = await featureDatabase();
const clock = { now: Date.parse('2026-11-20T10:00:00Z') };
const now = () => clock.now;
const counters = createMemoryCounters({ now });
const limits = parseLimits(['spray=5/50s'], 'local');
const pauses: number[] = [];
const lifted: string[] = [];
const EXEMPT = '192.168.0.0';
const blocks = createBlocks({ database, now });
const guard = createLoginGuard({
  ...{ database, blocks, counters, limits, audit: featureAudit(now), now, logger: pino({ level: 'silent' }) },
  isExempt: (source) => source === EXEMPT,
  onLift: ({ source }) => Promise.resolve(void lifted.push(source)),
  pause: (ms) => Promise.resolve(void pauses.push(ms)),
});

let counter = 0;
/** A source, or an account, that no other test has used. */
const unused = (kind: 'source' | 'account') => `${kind}-${++counter}`;

type Outcome = 'right' | 'wrong' | 'refused';

/** One try to sign in. `user_id` is that of the account, where there is one. */
async function attempt(
  place: { source: string; account: string; browser_id?: string },
  isRight: boolean,
  user_id: string | null = null,
): Promise<Outcome> {
  try {
    return await guard.attempt(place, async (admission) => {
      if (isRight && user_id !== null) await admission.succeeded(user_id);
      else await admission.failed(user_id);
      return isRight ? 'right' : 'wrong';
    });
  } catch (error) {
    if (error instanceof Problem && error.code === 'too_many_requests') return 'refused';
    throw error;
  }
}

/** A person at a place of their own. */
async function owner() {
  const user_id = await addPerson(database);
  const place = { account: unused('account'), source: unused('source') };
  return {
    ...{ user_id, place },
    right: (source = place.source) => attempt({ ...place, source }, true, user_id),
    wrong: async (times: number, source = place.source) => {
      const ends: Outcome[] = [];
      for (let time = 0; time < times; time += 1) ends.push(await attempt({ ...place, source }, false, user_id));
      return ends;
    },
    /** The refusal of the next try. */
    async refusal() {
      const error = await guard.attempt(place, () => Promise.resolve()).catch((refused: unknown) => refused);
      if (error instanceof Problem) return error;
      throw new Error('the try was not refused');
    },
  };
}
const wrongs = (count: number) => Array<Outcome>(count).fill('wrong');

// proves: asvs-6.3.1, security-12
describe('one account from one source', () => {
  test('is refused for 10 minutes after 5 wrong passwords, with the time left', async () => {
    const person = await owner();
    expect(await person.wrong(6)).toEqual([...wrongs(5), 'refused']);
    clock.now += 5 * MINUTE + 1;
    expect(await person.refusal()).toMatchObject({
      ...{ message: 'Too many wrong passwords for this email. Try again in 5 minutes.', retry_after: 300 },
    });
    clock.now += 5 * MINUTE;
    expect(await person.right()).toBe('right');
    await guard.close();
    expect(await auditKindsOf(database, person.user_id)).toEqual(['block_added']);
  });

  test('is not refused one step below, nor for tries longer ago than 10 minutes, nor after the right password', async () => {
    const person = await owner();
    expect(await person.wrong(4)).toEqual(wrongs(4));
    clock.now += 10 * MINUTE;
    for (let round = 0; round < 3; round += 1) {
      expect(await person.wrong(4)).toEqual(wrongs(4));
      expect(await person.right()).toBe('right');
    }
  });

  test('of a hundred guesses at once has five looked at', async () => {
    const { place } = await owner();
    const ends = await Promise.all(Array.from({ length: 100 }, () => attempt(place, false)));
    expect(ends.filter((end) => end === 'wrong')).toHaveLength(5);
    expect(ends.filter((end) => end === 'refused')).toHaveLength(95);
  });

  // proves: attack-B.14-5
  test('is let in twenty times by twenty right passwords at once, also among wrong ones', async () => {
    const person = await owner();
    expect(await Promise.all(Array.from({ length: 20 }, () => person.right()))).toEqual(Array(20).fill('right'));
    const mixed = await Promise.all(Array.from({ length: 30 }, (_, index) => (index < 4 ? person.right() : person.wrong(1))));
    // A right one forgets those that were wrong before it.
    expect(mixed.flat().filter((end) => end === 'wrong').length).toBeLessThanOrEqual(4 * 5 + 5);
  });

  test('a try that ends as neither right nor wrong counts as nothing', async () => {
    const person = await owner();
    expect(await person.wrong(4)).toEqual(wrongs(4));
    const fails = () => guard.attempt(person.place, () => Promise.reject(new Error('the database is away')));
    for (let time = 0; time < 12; time += 1) await expect(fails()).rejects.toThrow('away');
    await Promise.all(Array.from({ length: 12 }, () => expect(fails()).rejects.toThrow('away')));
    // It forgets none that was wrong, either.
    expect(await person.wrong(2)).toEqual(['wrong', 'refused']);
  });

  test('is refused for longer each time, and for a week at the fifth in a day', async () => {
    const person = await owner();
    const waits: number[] = [];
    for (let round = 0; round < 5; round += 1) {
      await person.wrong(5);
      const { retry_after = 0 } = await person.refusal();
      waits.push(retry_after / 60);
      clock.now += retry_after * 1_000;
    }
    expect(waits).toEqual([10, 20, 40, 80, 7 * 24 * 60]);
  });

  test('leaves the same account elsewhere, and other accounts there, alone', async () => {
    const [person, other] = [await owner(), await owner()];
    await person.wrong(5);
    expect(await person.right(unused('source'))).toBe('right');
    expect(await other.right(person.place.source)).toBe('right');
  });

  test('is let in when the refusal is lifted, which forgets the wrong passwords', async () => {
    const person = await owner();
    await person.wrong(6);
    await guard.close();
    const [block] = await blocks.list({ limit: 10 }, person.user_id);
    expect(block).toMatchObject({ kind: 'pair', source: person.place.source, rule: 'wrong_passwords', level: 1 });
    expect(await guard.lift(block?.id ?? '', person.user_id)).toBe(true);
    expect(await guard.lift(block?.id ?? '', person.user_id)).toBe(false);
    expect(lifted).toEqual([person.place.source]);
    expect(await blocks.list({ limit: 10 }, person.user_id)).toEqual([]);
    expect(await person.wrong(4)).toEqual(wrongs(4));
    expect(await person.right()).toBe('right');
    expect(await auditKindsOf(database, person.user_id)).toEqual(['block_added', 'block_lifted']);
  });
});

// proves: asvs-6.3.1
describe('many accounts from one source', () => {
  const spray = (source: string, count: number) =>
    Promise.all(Array.from({ length: count }, () => attempt({ source, account: unused('account') }, false)));

  test('have the source refused at the fifth, once, for 10 minutes and then for longer', async () => {
    const [person, source] = [await owner(), unused('source')];
    for (const minutes of [10, 20]) {
      await spray(source, 25);
      const refused = guard.attempt({ ...person.place, source }, () => Promise.resolve());
      await expect(refused).rejects.toMatchObject({
        ...{ message: `Too many failed sign-ins from your network. Try again in ${minutes} minutes.`, retry_after: minutes * 60 },
      });
      expect(await person.right()).toBe('right');
      clock.now += minutes * MINUTE;
    }
    expect(await database.selectFrom('blocks').select('level').where('source', '=', source).execute()).toEqual([
      { level: 1 },
      { level: 2 },
    ]);
  });

  test('do not one step below: four, or one each ten seconds, or one account again and again', async () => {
    const [four, slow, again] = [unused('source'), unused('source'), unused('source')];
    expect(await spray(four, 4)).toEqual(wrongs(4));
    // A person who then types the right password is no guesser of the fifth account.
    const typist = await owner();
    expect([...(await typist.wrong(1, slow)), await typist.right(slow)]).toEqual(['wrong', 'right']);
    expect(await spray(slow, 4)).toEqual(wrongs(4));
    expect(await typist.right(slow)).toBe('right');
    clock.now += 10 * MINUTE;
    for (let guess = 0; guess < 12; guess += 1) {
      expect(await spray(slow, 1)).toEqual(['wrong']);
      clock.now += 10_000;
    }
    const account = unused('account');
    for (let guess = 0; guess < 5; guess += 1) expect(await attempt({ source: again, account }, false)).toBe('wrong');
    expect(await spray(again, 1)).toEqual(['wrong']);
  });

  test('never have an exempt source refused as a whole', async () => {
    expect(await spray(EXEMPT, 8)).toEqual(wrongs(8));
    const account = unused('account');
    for (let guess = 0; guess < 5; guess += 1) expect(await attempt({ source: EXEMPT, account }, false)).toBe('wrong');
    expect(await attempt({ source: EXEMPT, account }, false)).toBe('refused');
  });
});

// proves: asvs-6.3.1
test.each([true, false])('one account from many sources is slowed down, and not refused; it exists: %s', async (exists) => {
  const person = await owner();
  const { account, source: home } = person.place;
  if (exists) expect(await person.right()).toBe('right');
  const guess = () => attempt({ account, source: unused('source') }, false, exists ? person.user_id : null);
  pauses.length = 0;
  for (let time = 0; time < 20; time += 1) expect(await guess()).toBe('wrong');
  expect(pauses).toEqual([]);
  expect(await guess()).toBe('wrong');
  expect(pauses).toEqual([500]);
  if (!exists) return;
  // A known place of the owner is not slowed down; from elsewhere they get in all the same.
  expect(await person.right(home)).toBe('right');
  expect(pauses).toEqual([500]);
  expect(await person.right(unused('source'))).toBe('right');
  expect(pauses).toEqual([500, 500]);
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

// proves: asvs-6.3.1, security-16
describe('the password of a signed-in person', () => {
  const passwords = createPasswordGuard({ counters, limits: parseLimits(['distributed=8/1h'], 'local') });
  async function give(user_id: string, isRight: boolean, source = 'here'): Promise<Outcome> {
    const work = () => Promise.resolve(isRight ? true : undefined);
    const answer = await passwords.attempt({ user_id, source }, work).catch((error: unknown) => error);
    if (answer instanceof Problem) return 'refused';
    return answer === true ? 'right' : 'wrong';
  }

  test('may be wrong 5 times from one source, is checked again after the wait, and keeps no other person out', async () => {
    const [one, other] = [unused('account'), unused('account')];
    for (let time = 0; time < 5; time += 1) expect(await give(one, false)).toBe('wrong');
    const refused = await passwords
      .attempt({ user_id: one, source: 'here' }, () => Promise.resolve(true))
      .catch((error: unknown) => error);
    const wait = refused instanceof Problem ? (refused.retry_after ?? 0) : 0;
    expect(wait).toBeGreaterThan(0);
    expect(wait).toBeLessThanOrEqual(120);
    expect(await give(other, true)).toBe('right');
    clock.now += wait * 1_000;
    expect(await give(one, true)).toBe('right');
  });

  test('once right, makes the wrong ones forgotten; a failure counts as nothing', async () => {
    const user_id = unused('account');
    const fails = () => passwords.attempt({ user_id, source: 'here' }, () => Promise.reject(new Error('away')));
    for (let round = 0; round < 3; round += 1) {
      for (let time = 0; time < 4; time += 1) expect(await give(user_id, false)).toBe('wrong');
      for (let time = 0; time < 6; time += 1) await expect(fails()).rejects.toThrow('away');
      expect(await give(user_id, true)).toBe('right');
    }
    expect(await Promise.all(Array.from({ length: 20 }, () => give(user_id, true)))).toEqual(Array(20).fill('right'));
  });

  test('is not guessed by many tries at once', async () => {
    const user_id = unused('account');
    const ends = await Promise.all([...Array.from({ length: 12 }, () => give(user_id, false)), give(user_id, true)]);
    expect(ends.filter((end) => end === 'wrong')).toHaveLength(5);
    expect(ends.filter((end) => end === 'refused')).toHaveLength(8);
  });

  test('is not guessed from many sources, which lock no one out for long', async () => {
    const user_id = unused('account');
    for (let source = 0; source < 8; source += 1) expect(await give(user_id, false, `source ${source}`)).toBe('wrong');
    expect(await give(user_id, false, 'a ninth')).toBe('refused');
    expect(await give(user_id, true)).toBe('refused');
    clock.now += DAY;
    expect(await give(user_id, true)).toBe('right');
  });
});

describe('a browser that signed in to the account before', () => {
  const browser = (browser_id: string) => (place: { source: string; account: string }) => ({ ...place, browser_id });

  test('has its own count, and gets in while its network is refused', async () => {
    const person = await owner();
    const known = browser('01930000-0000-4000-8000-000000000001')(person.place);
    expect(await attempt(known, true, person.user_id)).toBe('right');
    expect(await person.wrong(6)).toEqual([...wrongs(5), 'refused']);
    expect(await attempt(known, true, person.user_id)).toBe('right');
    // The right password in one browser forgives no other.
    expect(await person.wrong(1)).toEqual(['refused']);
    // It gets in as well while the whole network is refused, and from another network.
    for (let time = 0; time < 6; time += 1) await attempt({ ...person.place, account: unused('account') }, false);
    expect(await attempt(known, true, person.user_id)).toBe('right');
    expect(await attempt({ ...known, source: unused('source') }, true, person.user_id)).toBe('right');
  });

  test('is refused after as many wrong passwords, wherever it is, while its network is not', async () => {
    const person = await owner();
    const known = browser('01930000-0000-4000-8000-000000000002')(person.place);
    expect(await attempt(known, true, person.user_id)).toBe('right');
    for (let time = 0; time < 5; time += 1)
      expect(await attempt({ ...known, source: unused('source') }, false, person.user_id)).toBe('wrong');
    expect(await attempt(known, true, person.user_id)).toBe('refused');
    expect(await person.right()).toBe('right');
    const [block] = await blocks.list({ limit: 10 }, person.user_id);
    expect(block?.source).toMatch(/^browser:[0-9a-f]{64}$/);
  });

  test('is known to that account alone, and an invented id to none', async () => {
    const [person, other] = [await owner(), await owner()];
    const known = browser('01930000-0000-4000-8000-000000000003');
    expect(await attempt(known(person.place), true, person.user_id)).toBe('right');
    await other.wrong(5);
    for (const id of ['01930000-0000-4000-8000-000000000003', '01930000-0000-4000-8000-000000000004'])
      expect(await attempt(browser(id)(other.place), true, other.user_id)).toBe('refused');
    // Many invented ids are one count.
    const account = unused('account');
    const guesses = Array.from({ length: 6 }, (_, index) => ({ account, source: 'many', browser_id: `id ${index}` }));
    const ends: Outcome[] = [];
    for (const guess of guesses) ends.push(await attempt(guess, false));
    expect(ends).toEqual([...wrongs(5), 'refused']);
  });
});

test('the last try is announced, and a refusal is the same for right and wrong passwords, also for an unknown account', async () => {
  const { call, signIn } = await startTestApp();
  const { email, password } = await signIn();
  const answers = async (address: string, last: string) => {
    const seen: unknown[] = [];
    for (const given of ['a', 'b', 'c', 'd', 'e', 'f', last]) {
      const { code, detail } = problemOf(await call(login, { body: { email: address, password: given } }));
      seen.push({ code, detail });
    }
    return seen;
  };
  const known = await answers(email, password);
  expect(known[3]).toMatchObject({
    code: 'invalid_credentials',
    detail: 'The email or password is wrong. One try is left. After that, you have to wait at least 10 minutes.',
  });
  expect(known[4]).toEqual(known[0]);
  expect(known[5]).toMatchObject({ code: 'too_many_requests' });
  expect(known[6]).toEqual(known[5]);
  expect(await answers('nobody@example.com', password)).toEqual(known);
});

test('the application exempts private networks and, in local exposure, the machine itself, and counts by source', async () => {
  const { app } = await startTestApp({ environment: { LIMITS: 'spray=2/50s,pair=3/10m' } });
  const guess = async (email: string, remoteAddress: string) => {
    const payload = { email, password: 'not it' };
    return (await app.fastify.inject({ method: 'POST', url: `/api${login.path}`, remoteAddress, payload })).statusCode;
  };
  for (const address of ['fd00:1:2:3::1', '127.0.0.1'])
    for (let index = 0; index < 4; index += 1) expect(await guess(`private-${index}@example.com`, address)).toBe(401);
  // Addresses of one IPv6 network are one source.
  for (let host = 1; host <= 2; host += 1) expect(await guess(`public-${host}@example.com`, `2001:db8:0:7::${host}`)).toBe(401);
  expect(await guess('public-3@example.com', '2001:db8:0:7:ffff::1')).toBe(429);
  expect(await guess('public-3@example.com', '2001:db8:0:8::1')).toBe(401);
});
