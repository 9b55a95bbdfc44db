// Measures whether the time of an answer tells which email is known: 200 tries each with known and unknown emails, in random order, for sign-in, forgotten password, forgotten username and registering, in public exposure.
// Bar: medians within 5 % of each other. Prints a table and keeps results/equal-time.json. Needs npm start once (for the build).
import { mkdirSync, mkdtempSync, writeFileSync } from 'node:fs';
import { loadavg, tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { describeMachine, median, RESULTS, startServer } from './server.ts';

const TRIES = 200;
const BAR = 0.05;
/** Between two tries, so that what the server does after an answer is not in the next one's time. In ms. */
const REST_MS = 15;
// The last one makes the unknown ones known.
const CALLS = ['login', 'forgot-password', 'recover-username', 'register'] as const;

const EXPECTED = { login: 401, 'forgot-password': 200, 'recover-username': 200, register: 201 } as const;

const [load_before = 0] = loadavg();
const server = await startServer(mkdtempSync(join(tmpdir(), 'palisade-bench-')), {
  EXPOSURE: 'public',
  ADMIN_EMAILS: 'admin@example.com',
  RESET_DELIVERY: 'outbox',
  TRUSTED_PROXIES: '127.0.0.1',
});

let sources = 0;
/** Each try comes from an address of its own, so that no limit on sources answers in place of what is measured. */
async function post(path: string, body: Record<string, string>): Promise<{ ms: number; status: number }> {
  sources += 1;
  const began = performance.now();
  const response = await fetch(`${server.url}/api/auth/${path}`, {
    method: 'POST',
    headers: {
      'content-type': 'application/json',
      'x-forwarded-for': `10.${sources >> 16}.${(sources >> 8) & 255}.${sources & 255}`,
    },
    body: JSON.stringify(body),
  });
  await response.arrayBuffer();
  return { ms: performance.now() - began, status: response.status };
}

const results: Record<string, { known_ms: number; unknown_ms: number; difference: number; reached: boolean }> = {};
try {
  for (let number = 0; number < TRIES; number += 1) {
    const { status } = await post('register', {
      email: `known-${number}@example.com`,
      username: `known-${number}`,
      password: 'a password for measuring',
    });
    if (status !== 201) throw new Error(`An account could not be made: ${status}.`);
  }
  for (const call of CALLS) {
    const known: number[] = [];
    const unknown: number[] = [];
    const order = Array.from({ length: TRIES }, (_, number) => number).flatMap((number) =>
      Math.random() < 0.5 ? [`known-${number}`, `unknown-${number}`] : [`unknown-${number}`, `known-${number}`],
    );
    for (const name of ['warm-up-1', 'warm-up-2', ...order]) {
      const body = { email: `${name}@example.com`, password: 'a wrong password', username: `another ${name}` };
      const { ms, status } = await post(call, body);
      if (status !== EXPECTED[call]) throw new Error(`${call} answered ${status}.`);
      if (name.startsWith('known')) known.push(ms);
      if (name.startsWith('unknown')) unknown.push(ms);
      await pause(REST_MS);
    }
    const [known_ms, unknown_ms] = [median(known), median(unknown)];
    const difference = Math.abs(known_ms - unknown_ms) / Math.min(known_ms, unknown_ms);
    results[call] = { known_ms, unknown_ms, difference, reached: difference <= BAR };
  }
} finally {
  await server.stop();
}
mkdirSync(RESULTS, { recursive: true });
const kept = {
  what: 'medians of the time of an answer for known and unknown emails, 200 tries each, public exposure',
  at: new Date().toISOString(),
  machine: { ...describeMachine(), load_before },
  bar: BAR,
  results,
};
writeFileSync(join(RESULTS, 'equal-time.json'), `${JSON.stringify(kept, null, 2)}\n`);
console.table(results);
