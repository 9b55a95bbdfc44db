import { changePassword, currentUser } from '@palisade/contract/auth';
import type { Endpoint } from '@palisade/contract/endpoint';
import { deleteAccount, exportData } from '@palisade/contract/privacy';
import { endOtherSessions } from '@palisade/contract/sessions';
import { confirmIdentity } from '@palisade/contract/two-factor';
import { describe, expect, test } from 'vitest';
import { COUNTED_IN_MEMORY, startTestApp } from '#test/harness.ts';

const NEW_PASSWORD = 'another long password';
const DAY_MS = 86_400_000;

let clock = Date.parse('2026-11-20T10:00:00Z');
const { url, signIn } = await startTestApp({
  environment: { ...COUNTED_IN_MEMORY, TRUSTED_PROXIES: '127.0.0.1', LIMITS: 'distributed=8/1h' },
  surroundings: { now: () => clock },
});
await signIn('boss');

interface Attempt {
  token: string;
  password: string;
  email?: string;
  endpoint?: Endpoint;
  source?: string;
}

/** The answer's status, and its Retry-After. */
async function give({ token, password, email, endpoint = confirmIdentity, source = '203.0.113.7' }: Attempt) {
  const body = {
    password,
    current_password: password,
    new_password: NEW_PASSWORD,
    confirmation: email,
  };
  const answer = await fetch(`${url}/api${endpoint.path}`, {
    method: endpoint.method,
    headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json', 'x-forwarded-for': source },
    body: JSON.stringify(body),
  });
  await answer.arrayBuffer();
  return { status: answer.status, wait: Number(answer.headers.get('retry-after')) };
}

async function statuses(attempts: readonly Attempt[]): Promise<number[]> {
  const answers = [];
  for (const attempt of attempts) answers.push((await give(attempt)).status);
  return answers;
}

const wrong = (token: string, times: number, source?: string): Attempt[] =>
  Array.from({ length: times }, () => ({ token, password: 'not it', ...(source !== undefined && { source }) }));

// proves: asvs-6.3.1
describe('the password of a signed-in person', () => {
  // proves: security-16
  test.each([endOtherSessions, changePassword, confirmIdentity, exportData, deleteAccount])(
    'may be wrong 5 times from one source, over all endpoints: $path',
    async (endpoint) => {
      const { token, password, email } = await signIn();
      expect(await statuses([...wrong(token, 4), { token, password: 'not it', email, endpoint }])).toEqual(Array(5).fill(422));
      const refused = await give({ token, password, email, endpoint });
      expect(refused.status).toBe(429);
      expect(refused.wait).toBeGreaterThan(0);
      expect(refused.wait).toBeLessThanOrEqual(120);
    },
  );

  test('is checked again when the wait is over, and the session stays valid meanwhile', async () => {
    const { token, password } = await signIn();
    await statuses(wrong(token, 5));
    const { status, wait } = await give({ token, password });
    expect(status).toBe(429);
    const answer = await fetch(`${url}/api${currentUser.path}`, { headers: { authorization: `Bearer ${token}` } });
    expect(answer.status).toBe(200);
    clock += wait * 1_000;
    expect((await give({ token, password })).status).toBe(200);
  });

  test('once right, makes the wrong ones forgotten', async () => {
    const { token, password } = await signIn();
    const round = [...wrong(token, 4), { token, password }];
    expect(await statuses([...round, ...round, ...round])).toEqual([1, 2, 3].flatMap(() => [422, 422, 422, 422, 200]));
  });

  test('is not guessed by many tries at once', async () => {
    const { token, password } = await signIn();
    const answers = await Promise.all([...wrong(token, 12), { token, password }].map(give));
    expect(answers.filter(({ status }) => status === 422)).toHaveLength(5);
    expect(answers.filter(({ status }) => status === 429)).toHaveLength(8);
  });

  // proves: security-16
  test('is not guessed from many sources, which lock no one out for long', async () => {
    const { token, password } = await signIn();
    const sources = Array.from({ length: 9 }, (_, index) => `198.51.100.${index + 1}`);
    const guesses = sources.flatMap((source) => wrong(token, 1, source));
    expect(await statuses(guesses)).toEqual([...sources.slice(1).map(() => 422), 429]);
    expect((await give({ token, password })).status).toBe(429);
    clock += DAY_MS;
    expect((await give({ token, password })).status).toBe(200);
  });

  test('a wrong one keeps no other person out', async () => {
    const [one, other] = [await signIn(), await signIn()];
    expect(await statuses(wrong(one.token, 6))).toEqual([422, 422, 422, 422, 422, 429]);
    expect((await give(other)).status).toBe(200);
  });
});
