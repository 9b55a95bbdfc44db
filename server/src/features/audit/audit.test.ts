import { mkdtempSync, readFileSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { checkAudit, exportActivity, listActivity, listAudit } from '@palisade/contract/audit';
import { changeUsername, currentUser, login, logout } from '@palisade/contract/auth';
import { endOtherSessions } from '@palisade/contract/sessions';
import type { Kysely } from 'kysely';
import { pino } from 'pino';
import { describe, expect, test } from 'vitest';
import { createAudit, entryHash } from '#platform/audit.ts';
import { type AuditMark, type AuditVerdict, verifyAudit } from '#platform/audit-verify.ts';
import { createAuditWitness, openWitness } from '#platform/audit-witness.ts';
import { openDatabase } from '#platform/database.ts';
import { inTransaction } from '#platform/in-transaction.ts';
import type { Tables } from '#platform/tables.ts';
import { addPerson, featureAccounts, featureAudit, featureDatabase, ORIGIN } from '#test/feature-database.ts';
import { isPostgres, replyOf, startTestApp } from '#test/harness.ts';
import { insertRow } from '#test/rows.ts';
import { runCommand } from '#test/server-process.ts';
import { unguard } from '#test/unguarded-audit.ts';
import { createAuditLog } from './audit-log.ts';

type Database = Kysely<Tables>;

const KEY = Buffer.alloc(32, 7);
const clock = { now: Date.parse('2026-11-20T10:00:00.000Z') };
const now = () => clock.now;
const audit = featureAudit(now);
const at = () => new Date(clock.now).toISOString();
/** Adds an entry by a person about themselves. */
const signedIn = (database: Database, id: string) =>
  audit.record(database, { kind: 'signed_in', subject_id: id, actor_id: id, origin: ORIGIN });
const change = (database: Database, seq: number, values: Partial<Tables['audit_entries']>) =>
  database.updateTable('audit_entries').set(values).where('seq', '=', seq).execute();
const remove = (database: Database, seq: number) => database.deleteFrom('audit_entries').where('seq', '=', seq).execute();
const end = (database: Database, values: Partial<Tables['audit_head']>) =>
  database.updateTable('audit_head').set(values).execute();
const headOf = (database: Database) => database.selectFrom('audit_head').selectAll().executeTakeFirstOrThrow();
const verify = (database: Database, ...marks: AuditMark[]) => verifyAudit(database, { key: KEY, marks });

/** A database with a sealed log of so many entries, each of a person of its own. */
async function logOf(entries: number): Promise<{ database: Database; ids: string[] }> {
  const database = await featureDatabase();
  await audit.beginSealing(database);
  const ids: string[] = [];
  for (let entry = 0; entry < entries; entry += 1) {
    ids.push(await addPerson(database));
    await signedIn(database, ids[entry] ?? '');
  }
  return { database, ids };
}

describe('the log of administrators', async () => {
  const database = await featureDatabase();
  const accounts = featureAccounts(database);
  const omar = await addPerson(database, { username: 'omar', email: 'omar@example.com' });
  let checks = 0;
  const log = createAuditLog({
    ...{ database, now },
    accounts: { ...accounts, matching: async (words) => ((await accounts.findUserByEmail(words)) === undefined ? [] : [omar]) },
    verify() {
      checks += 1;
      return Promise.resolve({ entries: 0, head: '', checked_from: 1, keyed_from: 1, fault: null });
    },
  });
  await audit.record(database, { kind: 'account_registered', subject_id: omar, actor_id: omar, origin: ORIGIN });
  clock.now += 1;
  await signedIn(database, omar);
  const kinds = async (filter: Partial<Parameters<typeof log.list>[0]>) =>
    (await log.list({ limit: 10, ...filter })).map(({ kind, subject }) => `${kind} ${subject?.username}`);

  test('is filtered by person, kind, group and time, newest first, in pages', async () => {
    const both = ['signed_in omar', 'account_registered omar'];
    for (const person of ['omar@example.com', omar, omar.toUpperCase()]) expect(await kinds({ person })).toEqual(both);
    expect(await kinds({ person: 'nobody' })).toEqual([]);
    expect(await kinds({ kind: 'signed_in' })).toEqual(['signed_in omar']);
    expect(await kinds({ group: 'sign_in' })).toEqual(['signed_in omar']);
    expect(await kinds({ group: 'plans' })).toEqual([]);
    expect(await kinds({ from: at() })).toEqual(['signed_in omar']);
    expect(await kinds({ to: at() })).toEqual(['account_registered omar']);
    const [first] = await log.list({ limit: 1 });
    expect(first).toMatchObject({ kind: 'signed_in', actor_id: omar, address: ORIGIN.address });
    expect(await kinds({ cursor: first?.seq })).toEqual(['account_registered omar']);
    expect(await log.activity(omar, { limit: 1, cursor: first?.seq })).toMatchObject([
      { kind: 'account_registered', by: 'self' },
    ]);
    expect(await log.activity(await addPerson(database), { limit: 10 })).toEqual([]);
  });

  test('is checked once for several who ask at once', async () => {
    const answers = await Promise.all([log.check(), log.check()]);
    expect(answers[0]).toMatchObject({ fault: null, checked_at: at() });
    expect(checks).toBe(1);
  });
});

describe('the database', async () => {
  const { database } = await logOf(2);

  test('has one chain, however many are added at once', async () => {
    await Promise.all(Array.from({ length: 8 }, () => signedIn(database, 'person')));
    const head = await headOf(database);
    expect(await verify(database)).toMatchObject({ entries: 10, head: `10:${head.hash}`, fault: null });
  });

  test.each([
    ['changes no entry', () => change(database, 1, { kind: 'signed_out' })],
    ['changes nothing personal', () => change(database, 1, { personal: '{}' })],
    ['removes no entry', () => remove(database, 1)],
    ['does not move the end back', () => end(database, { seq: 1 })],
    ['does not lose the end', () => database.deleteFrom('audit_head').execute()],
  ])('%s', async (_, tamper) => {
    await expect(tamper()).rejects.toThrow('append-only');
    expect((await verify(database)).fault).toBeNull();
  });
});

/** Takes the transaction back. */
class Undone extends Error {
  readonly verdict: AuditVerdict;
  constructor(verdict: AuditVerdict) {
    super();
    this.verdict = verdict;
  }
}

/** A database, or a query of one, that does something before each query is sent. */
function beforeQueries<T extends object>(target: T, first: () => Promise<void>): T {
  return new Proxy(target, {
    get(_, name): unknown {
      const value: unknown = Reflect.get(target, name, target);
      if (typeof value !== 'function') return value;
      return (...args: unknown[]): unknown => {
        if (String(name).startsWith('execute')) {
          const send = async (): Promise<unknown> => {
            await first();
            return await Reflect.apply(value, target, args);
          };
          return send();
        }
        const next: unknown = Reflect.apply(value, target, args);
        return typeof next === 'object' && next !== null ? beforeQueries(next, first) : next;
      };
    },
  });
}

// proves: asvs-11.4.3, security-20
describe('the verifier', async () => {
  test('accepts entries that are added while it reads', async () => {
    const { database } = await logOf(1);
    const added: Promise<unknown>[] = [];
    const growing = database.withPlugin({
      transformQuery: ({ node }) => node,
      async transformResult({ result }) {
        // Each time it has read a page of entries, a person signs in.
        if (result.rows.some((row) => 'personal_hash' in row) && added.length < 3) {
          added.push(signedIn(database, 'person'));
          // SQLite has one connection, which is the verifier's until it has its answer; callers follow in their order.
          if (isPostgres()) await added.at(-1);
        }
        return result;
      },
    });
    expect(await verify(growing)).toMatchObject({ fault: null });
    await Promise.all(added);
    expect(added).toHaveLength(3);
  });

  test('begins again when old entries are removed while it reads', async () => {
    const { database } = await logOf(4);
    let queries = 0;
    let removed = 0;
    // Everything is removed after the verifier has read where the log begins, and before it reads the entries.
    const shrinking = beforeQueries(database, async () => {
      queries += 1;
      if (queries === 2) removed = await audit.forgetOld(database, new Date(clock.now + 60_000).toISOString());
    });
    expect(await verify(shrinking)).toMatchObject({ fault: null, entries: removed });
    expect(removed).toBeGreaterThan(2);
  });

  const { database: fresh, ids } = await logOf(0);
  const atFirst = await headOf(fresh);
  for (let entry = 0; entry < 4; entry += 1) {
    if (entry % 2 === 0) ids.push(await addPerson(fresh));
    await signedIn(fresh, ids.at(-1) ?? '');
  }
  const { seq: last_seq, hash: last_hash } = await headOf(fresh);
  const second = await fresh.selectFrom('audit_entries').select('hash').where('seq', '=', 2).executeTakeFirstOrThrow();
  const entry = (database: Database, seq: number) =>
    database.selectFrom('audit_entries').selectAll().where('seq', '=', seq).executeTakeFirstOrThrow();
  /** Puts an older copy of the log back: entries and end as they were. */
  const rollBack = async (database: Database, head: Awaited<ReturnType<typeof headOf>>) => {
    await database.deleteFrom('audit_entries').where('seq', '>', head.seq).execute();
    await end(database, head);
  };
  /** Chains everything anew, as a person can who has the database and this program, but not the key. */
  const chainAnew = async (database: Database, last = 2 ** 31 - 1) => {
    let before = '0'.repeat(64);
    for (const row of await database.selectFrom('audit_entries').selectAll().where('seq', '<=', last).orderBy('seq').execute()) {
      before = entryHash(undefined, before, row);
      await change(database, row.seq, { hash: before });
    }
    return before;
  };
  /** The verdict of a log that was tampered with, which is as it was afterwards. */
  async function afterTampering(tamper: (database: Database) => Promise<unknown>, ...marks: AuditMark[]): Promise<AuditVerdict> {
    const tampered = inTransaction(fresh, async (transaction) => {
      expect((await verify(transaction)).fault).toBeNull();
      await unguard(transaction);
      await tamper(transaction);
      throw new Undone(await verify(transaction, ...marks));
    });
    return await tampered.catch((error: unknown) => {
      if (error instanceof Undone) return error.verdict;
      throw error;
    });
  }

  /** Puts a copy of the entry with this number at another place. */
  const put = async (database: Database, of: number, seq: number) =>
    await insertRow(database, 'audit_entries', { ...(await entry(database, of)), seq });
  const changed = (database: Database) => change(database, 2, { kind: 'signed_out' });

  test.each<[string, (database: Database) => Promise<unknown>, number, RegExp]>([
    ['an entry that was changed', changed, 2, /changed/],
    ['a person who was exchanged', (database) => change(database, 3, { actor_id: null }), 3, /changed/],
    [
      'something personal that was changed',
      (database) => change(database, 2, { personal: '{}' }),
      2,
      /personal data was changed/,
    ],
    [
      'something personal that was taken out of an account that is there',
      (database) => change(database, 2, { personal: null }),
      2,
      /no account was deleted/,
    ],
    ['an entry that was taken out', (database) => remove(database, 2), 2, /missing/],
    [
      'two that were exchanged',
      async (database) => {
        for (const [from = 0, to = 0] of [
          [2, -1],
          [3, 2],
          [-1, 3],
        ])
          await change(database, from, { seq: to });
      },
      2,
      /moved/,
    ],
    [
      'one that was put in',
      async (database) => {
        for (const seq of [4, 3, 2]) await change(database, seq, { seq: seq + 1 });
        await put(database, 3, 2);
      },
      3,
      /added without the key/,
    ],
    ['an end that was cut off', (database) => remove(database, 4), 4, /cut off: the log had 4/],
    ['one that was added past the end', (database) => put(database, 4, 5), 5, /changed/],
    ['an end that is gone', (database) => database.deleteFrom('audit_head').execute(), 1, /log’s end is missing/],
    [
      'a log that was changed and chained anew without the key',
      async (database) => {
        await changed(database);
        await end(database, { hash: await chainAnew(database) });
      },
      1,
      /without the key/,
    ],
    [
      'the same, with an end that says that the log was never sealed',
      async (database) => {
        await changed(database);
        await end(database, { hash: await chainAnew(database), keyed_from: null, mac: null });
      },
      4,
      /isn’t signed with the key/,
    ],
    [
      'a beginning that was cut off and called removed after its time',
      async (database) => {
        for (const seq of [1, 2]) await remove(database, seq);
        await end(database, { anchor_seq: 2, anchor_hash: second.hash });
      },
      4,
      /isn’t signed with the key/,
    ],
    [
      'a log that was emptied, with an end of its own',
      async (database) => {
        await database.deleteFrom('audit_entries').execute();
        await end(database, { seq: 0, hash: '0'.repeat(64) });
      },
      0,
      /isn’t signed with the key/,
    ],
  ])('finds %s', async (_, tamper, seq, reason) => {
    const { fault } = await afterTampering(tamper);
    expect(fault?.seq).toBe(seq);
    expect(fault?.reason).toMatch(reason);
  });

  const noted = { seq: last_seq, hash: last_hash, by: 'the saved head' } as const;

  // proves: attack-B.13-1
  test('finds with a noted head that the log was put back to the beginning, and that it was rewritten', async () => {
    const cut = await afterTampering((database) => rollBack(database, atFirst), noted);
    expect(cut.fault).toMatchObject({ seq: 1 });
    expect(cut.fault?.reason).toMatch(/cut off: the saved head is at entry 4\. The log is empty\./);
    const back = async (database: Database) => {
      await rollBack(database, atFirst);
      for (let count = 0; count < 5; count += 1) await signedIn(database, 'another');
    };
    expect((await afterTampering(back)).fault).toBeNull();
    const { fault } = await afterTampering(back, noted);
    expect(fault).toMatchObject({ seq: 4 });
    expect(fault?.reason).toMatch(/rewritten/);
  });

  test('takes the log of before there was a key, and seals its end into the first entry after it', async () => {
    const { database } = await logOf(2);
    await unguard(database);
    // As a version without a key has left it.
    await end(database, { hash: await chainAnew(database), keyed_from: null, mac: null });
    await audit.beginSealing(database);
    await signedIn(database, 'other');
    expect(await verify(database)).toMatchObject({ keyed_from: 3, fault: null });
    await change(database, 1, { at: '2020-01-01T00:00:00.000Z' });
    await chainAnew(database, 2);
    const { fault } = await verify(database);
    expect(fault).toMatchObject({ seq: 3 });
    expect(fault?.reason).toContain('added without the key');
  });

  test("finds by the server's note beside its keys that the log was put back, and never notes the other one", async () => {
    const { database } = await logOf(0);
    const empty = await headOf(database);
    const folder = mkdtempSync(join(tmpdir(), 'palisade-witness-'));
    const file = openWitness(join(folder, 'keys', 'audit.head'), KEY);
    const witness = createAuditWitness({ database, file, key: KEY, logger: pino({ level: 'silent' }) });
    for (const id of ['boss', 'boss']) await signedIn(database, id);
    await witness.look();
    const mark = file.read();
    expect(mark).toMatchObject({ seq: 2 });
    expect(statSync(join(folder, 'keys', 'audit.head')).mode & 0o777).toBe(0o600);
    await unguard(database);
    await rollBack(database, empty);
    await witness.look();
    const faultNow = async () => (await verify(database, ...(mark === undefined ? [] : [mark]))).fault;
    expect((await faultNow())?.reason).toContain('The log is empty.');
    for (const id of ['eva', 'eva', 'lea']) await signedIn(database, id);
    expect(await faultNow()).toMatchObject({ seq: 2 });
    expect((await faultNow())?.reason).toContain('this server’s own note. The log was rewritten');
    await witness.close();
    expect(file.read()).toEqual(mark);
    expect(() => openWitness(join(folder, 'keys', 'audit.head'), Buffer.alloc(32, 8)).read()).toThrow('has the wrong key');
  });
});

// proves: attack-B.13-1
test('the command ends with 0 or 1 and says why; a server that has seen the log sealed seals no other one', async () => {
  const DATA_DIR = mkdtempSync(join(tmpdir(), 'palisade-audit-'));
  const location = { sqlite: join(DATA_DIR, 'palisade.sqlite') };
  const place = { environment: { DATA_DIR }, surroundings: { database: location } };
  const before = await startTestApp(place);
  const key = readFileSync(join(DATA_DIR, 'keys', 'audit.key'));
  const sealed = createAudit({ now, key });
  for (let count = 0; count < 2; count += 1)
    await sealed.record(before.app.database, { kind: 'signed_in', subject_id: 'boss', actor_id: 'boss' });
  await before.close();
  const whole = await runCommand('verify', { DATA_DIR });
  expect(whole).toMatchObject({ code: 0 });
  expect(whole.output).toContain('is intact: 2 entries');
  const head = /later: (\S+)/.exec(whole.output)?.[1] ?? '';
  const database = openDatabase<Tables>(location);
  await unguard(database);
  const unsealed = { hash: head.replace(/^\d+:/, ''), keyed_from: null, mac: null };
  await database.updateTable('audit_head').set(unsealed).execute();
  await database.destroy();
  const after = await startTestApp(place);
  expect(await headOf(after.app.database)).toMatchObject({ keyed_from: null, mac: null });
  await after.close();
  const failed = await runCommand('verify', { DATA_DIR }, ['--head', head]);
  expect(failed).toMatchObject({ code: 1 });
  expect(failed.output).toContain('failed its check');
});

describe('the routes', async () => {
  const { app, call, registerAndSignIn: signIn } = await startTestApp();
  const boss = await signIn('boss');
  const maria = await signIn('maria');

  // proves: asvs-16.3.1
  test('list one’s own activity in pages, and what the administrator sees of it', async () => {
    const { access_token: token } = replyOf(await call(login, { body: { email: maria.email, password: maria.password } }));
    replyOf(await call(changeUsername, { token, body: { username: '=1+1' } }));
    await call(endOtherSessions, { token, body: { password: maria.password } });
    const page = await call(listActivity, { token, query: '?limit=2' });
    expect(replyOf(page)).toMatchObject([
      { kind: 'other_sessions_ended', by: 'self', address: '127.0.0.1' },
      { kind: 'username_changed', details: { username: '=1+1' } },
    ]);
    const next = /^<\/api\/auth\/audit(\?[^>]+)>; rel="next"$/.exec(page.headers.get('link') ?? '')?.[1] ?? '';
    expect(replyOf(await call(listActivity, { token, query: next }))[0]).toMatchObject({ kind: 'signed_in' });
    const { id } = replyOf(await call(currentUser, { token }));
    const listed = await call(listAudit, { token: boss.token, query: '?person=maria@exa&kind=signed_in&limit=1' });
    expect(replyOf(listed)).toMatchObject([{ kind: 'signed_in', actor_id: id, subject: { username: '=1+1' } }]);
    const chain = replyOf(await call(checkAudit, { token: boss.token }));
    const [newest] = replyOf(await call(listAudit, { token: boss.token, query: '?limit=1' }));
    expect(chain).toMatchObject({ entries: newest?.seq, head: `${newest?.seq}:${newest?.hash}`, fault: null });
    for (const query of ['?limit=0', '?cursor=0', '?cursor=x', '?limit=501'])
      expect((await call(listActivity, { token, query })).status).toBe(422);
    expect((await call(listAudit, { token: boss.token, query: '?kind=nothing' })).status).toBe(422);
    await call(logout, { token });
    expect(replyOf(await call(listAudit, { token: boss.token, query: '?limit=1' }))).toMatchObject([{ kind: 'signed_out' }]);
  });

  test('answer one’s activity as a file, for programs and for spreadsheets', async () => {
    const { access_token: token } = replyOf(await call(login, { body: { email: maria.email, password: maria.password } }));
    const file = (format: string) =>
      app.fastify.inject({ url: `/api${exportActivity.path}?format=${format}`, headers: { authorization: `Bearer ${token}` } });
    const json = await file('json');
    expect(json.headers['content-disposition']).toBe('attachment; filename="palisade-activity.json"');
    expect(json.json()).toEqual(replyOf(await call(listActivity, { token })));
    const lines = (await file('csv')).body.trimEnd().split('\r\n');
    expect(lines[0]).toContain('"Number","Time (UTC)","What"');
    expect(lines.join()).toContain('"username_changed","self","127.0.0.1"');
    expect(lines.join()).toContain('"username: =1+1"');
    expect((await file('pdf')).statusCode).toBe(422);
  });
});
