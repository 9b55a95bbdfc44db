import type { Policy } from '@palisade/names/decide';
import type { Resolver } from '@palisade/names/resolver';
import { readQuestion, wireName } from '@palisade/names/wire';
import { expect, test } from 'vitest';
import type { Outcome } from './question-counts.ts';
import { type Asker, QuestionDesk } from './question-desk.ts';

const KEY = 'a'.repeat(26);
const DEVICE = { id: 'phone', key: KEY, user_id: 'anna', profile_id: null, last_question_at: null };
const POLICY: Policy = { levels: [], safe_search: 'off', seconds_maximum: 60 };
const RULES = { policy: POLICY, is_private: false };

function made(parts: { resolve?: Resolver['resolve']; rulesOf?: ConstructorParameters<typeof QuestionDesk>[0]['rulesOf'] } = {}) {
  const clock = { now: 1_800_000_000_000 };
  const finds: Asker[] = [];
  const holders = new Set([KEY]);
  const { resolve = () => ({ answer: Buffer.alloc(12) }), rulesOf = async () => RULES } = parts;
  const desk = new QuestionDesk({
    resolver: { resolve },
    counts: { add() {}, write: async () => {} },
    async find(asker) {
      finds.push(asker);
      return 'key' in asker && holders.has(asker.key) ? DEVICE : undefined;
    },
    rulesOf,
    now: () => clock.now,
  });
  const ask = async (asker: Asker = { key: KEY }) => (await desk.ask(asker, Buffer.alloc(12))).kind;
  return { desk, clock, finds, ask, holders };
}

test('a change of rules gives no device more questions', async () => {
  const { desk, clock, ask } = made();
  for (let count = 0; count < 1_000; count++) expect(await ask()).toBe('answered');
  desk.forget();
  expect(await ask()).toBe('limited');
  clock.now += 5;
  expect([await ask(), await ask()]).toEqual(['answered', 'limited']);
  // A clock that is put back fills nothing, and stops nothing for longer.
  clock.now -= 3_600_000;
  expect(await ask()).toBe('limited');
  clock.now += 1_000;
  for (let count = 0; count < 200; count++) expect(await ask()).toBe('answered');
});

test('a device has at most 200 questions that wait', async () => {
  const away = Promise.withResolvers<{ answer: Buffer }>();
  const { ask } = made({ resolve: () => away.promise });
  const waiting = Array.from({ length: 200 }, () => ask());
  expect(await ask()).toBe('limited');
  away.resolve({ answer: Buffer.alloc(12) });
  expect(new Set(await Promise.all(waiting))).toEqual(new Set(['answered']));
  expect(await ask()).toBe('answered');
});

test('addresses that no device has are looked for once in a while, and keys that none has each time', async () => {
  const { clock, finds, ask } = made();
  for (let count = 0; count < 3; count++) expect(await ask({ address: '192.168.1.9' })).toBe('unknown');
  expect(finds).toHaveLength(1);
  clock.now += 2_500;
  await ask({ address: '192.168.1.9' });
  expect(finds).toHaveLength(2);
  for (let count = 0; count < 3; count++) expect(await ask({ key: 'b'.repeat(26) })).toBe('unknown');
  expect(finds).toHaveLength(5);
});

test('rules that were being read during a change are read again', async () => {
  const reads = [Promise.withResolvers<typeof RULES>(), Promise.withResolvers<typeof RULES>()];
  let count = 0;
  const { desk, ask } = made({ rulesOf: () => reads[count++]?.promise ?? Promise.resolve(RULES) });
  const first = ask();
  await Promise.resolve();
  desk.forget();
  reads[0]?.resolve(RULES);
  await first;
  reads[1]?.resolve(RULES);
  await ask();
  await ask();
  expect(count).toBe(2);
});

test('another server follows a change of rules or of a key in less than three seconds', async () => {
  let rules = RULES;
  const answered: Policy[] = [];
  const { clock, ask, holders } = made({
    resolve(_message, policy) {
      answered.push(policy);
      return { answer: Buffer.alloc(12) };
    },
    rulesOf: async () => rules,
  });
  await ask();
  rules = { ...RULES, policy: { ...POLICY, safe_search: 'strict' } };
  clock.now += 2_999;
  await ask();
  expect(answered.map(({ safe_search }) => safe_search)).toEqual(['off', 'strict']);
  holders.delete(KEY);
  clock.now += 2_999;
  expect(await ask()).toBe('unknown');
});

test('no names of a device with a profile are kept, and its private refusals are marked', async () => {
  const added: Outcome[] = [];
  const device = { ...DEVICE, names_until: '2027-01-16T00:00:00.000Z' };
  const head = Buffer.from([0, 0, 1, 0, 0, 1, 0, 0, 0, 0, 0, 0]);
  const reading = readQuestion(Buffer.concat([head, wireName('shop.example') ?? head, Buffer.from([0, 1, 0, 1])]));
  if (reading.kind !== 'question') throw new Error('no question');
  const { question } = reading;
  for (const profile_id of [null, 'tim']) {
    const desk = new QuestionDesk({
      resolver: { resolve: () => ({ answer: Buffer.alloc(12), question }) },
      counts: { add: (outcome) => added.push(outcome), write: async () => {} },
      find: async () => ({ ...device, profile_id }),
      rulesOf: async (asking) => ({ policy: POLICY, is_private: asking.profile_id !== null }),
      now: () => 1_800_000_000_000,
    });
    await desk.ask({ key: KEY }, Buffer.alloc(12));
  }
  expect(added.map(({ shown, is_private }) => [shown, is_private])).toEqual([
    ['shop.example', false],
    [undefined, true],
  ]);
});
