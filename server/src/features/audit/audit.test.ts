import { mkdtempSync, readFileSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { checkAudit, exportActivity, listActivity, listAudit } from '@palisade/contract/audit';
import {
  changePassword,
  changeUsername,
  currentUser,
  forgotPassword,
  login,
  logout,
  resetPassword,
} from '@palisade/contract/auth';
import { endOtherSessions, endSession, listSessions } from '@palisade/contract/sessions';
import { PostgresAdapter, sql } from 'kysely';
import { describe, expect, onTestFinished, test, vi } from 'vitest';
import { createAudit, entryHash } from '#platform/audit.ts';
import { type AuditMark, type AuditVerdict, verifyAudit } from '#platform/audit-verify.ts';
import { openDatabase } from '#platform/database.ts';
import { inTransaction } from '#platform/in-transaction.ts';
import type { Tables } from '#server/app/tables.ts';
import { isPostgres, replyOf, startTestApp, type TestApp } from '#test/harness.ts';
import { runCommand } from '#test/server-process.ts';

const containing = (part: string): unknown => expect.stringContaining(part);
const app = await startTestApp();
const { call, signIn } = app;
const boss = await signIn('boss');
const idOf = async (token: string) => replyOf(await call(currentUser, { token })).id;
const kinds = async (token: string) => replyOf(await call(listActivity, { token })).map(({ kind }) => kind);

describe('one’s own activity', () => {
  // proves: asvs-16.3.1
  test("lists changes of the account with their origin, newest first, and never other people's", async () => {
    const person = await signIn('maria');
    const again = async (password = person.password) =>
      replyOf(await call(login, { body: { email: person.email, password } })).access_token;
    const other = await again();
    await call(changeUsername, { token: person.token, body: { username: 'zoe' } });
    const [latest] = replyOf(await call(listSessions, { token: person.token }));
    const body = { password: person.password };
    await call(endSession, { token: person.token, params: { id: latest?.id ?? '' }, body });
    await call(endOtherSessions, { token: person.token, body });
    const change = { current_password: person.password, new_password: 'another long password' };
    await call(changePassword, { token: person.token, body: change });
    const { reset_token } = replyOf(await call(forgotPassword, { body: { email: person.email } }));
    await call(resetPassword, { body: { reset_token: reset_token ?? '', new_password: 'a third long password' } });
    await call(logout, { token: await again('a third long password') });
    const token = await again('a third long password');
    expect((await call(currentUser, { token: other })).status).toBe(401);

    const activity = replyOf(await call(listActivity, { token }));
    expect(activity.map(({ kind }) => kind)).toEqual([
      'signed_in',
      'signed_out',
      'signed_in',
      'password_reset',
      'password_changed',
      'other_sessions_ended',
      'session_ended',
      'username_changed',
      'signed_in',
      'signed_in',
      'account_registered',
    ]);
    for (const entry of activity) expect(entry).toMatchObject({ by: 'self', address: '127.0.0.1' });
    expect(activity.find(({ kind }) => kind === 'username_changed')?.details).toEqual({ username: 'zoe' });
  });

  test('comes in pages', async () => {
    const { token } = await signIn();
    const first = await call(listActivity, { token, query: '?limit=1' });
    expect(replyOf(first).map(({ kind }) => kind)).toEqual(['signed_in']);
    const next = /^<\/api\/auth\/audit(\?[^>]+)>; rel="next"$/.exec(first.headers.get('link') ?? '')?.[1];
    expect(replyOf(await call(listActivity, { token, query: next ?? '' })).map(({ kind }) => kind)).toEqual([
      'account_registered',
    ]);
  });

  test.each(['?limit=0', '?cursor=0', '?cursor=x', '?limit=501'])('a bad page is 422: %s', async (query) => {
    expect((await call(listActivity, { token: boss.token, query })).status).toBe(422);
  });

  test('is a file, for programs and for spreadsheets', async () => {
    const { token } = await signIn();
    await call(changeUsername, { token, body: { username: '=1+1' } });
    const file = async (format: string) => {
      const headers = { authorization: `Bearer ${token}` };
      return await fetch(`${app.url}/api${exportActivity.path}?format=${format}`, { headers });
    };
    const json = await file('json');
    expect(json.headers.get('content-disposition')).toBe('attachment; filename="palisade-activity.json"');
    expect(await json.json()).toEqual(replyOf(await call(listActivity, { token })));
    const csv = await (await file('csv')).text();
    const lines = csv.trimEnd().split('\r\n');
    expect(lines[0]).toContain('"Number","Time (UTC)","What"');
    expect(lines).toHaveLength(4);
    expect(lines[1]).toContain('"username_changed","self","127.0.0.1"');
    expect(lines[1]).toContain(`"username: =1+1"`);
    expect((await file('pdf')).status).toBe(422);
  });
});

describe('the log of administrators', () => {
  test('finds entries by person and by kind', async () => {
    const person = await signIn('omar');
    const id = await idOf(person.token);
    for (const words of [person.email.toUpperCase(), 'Omar', 'oma', 'mar@exa', id]) {
      const entries = replyOf(await call(listAudit, { token: boss.token, query: `?${new URLSearchParams({ person: words })}` }));
      expect(entries.map(({ kind, subject }) => [kind, subject?.username])).toEqual([
        ['signed_in', 'omar'],
        ['account_registered', 'omar'],
      ]);
    }
    const list = async (query: string) => replyOf(await call(listAudit, { token: boss.token, query })).map(({ kind }) => kind);
    expect(await list('?person=omar&group=sign_in')).toEqual(['signed_in']);
    expect(await list('?person=omar&group=plans')).toEqual([]);
    const [latest] = replyOf(await call(listAudit, { token: boss.token, query: '?person=omar&limit=1' }));
    const after = new Date(Date.parse(latest?.at ?? '') + 1).toISOString();
    expect(await list(`?person=omar&from=${after}`)).toEqual([]);
    expect(await list(`?person=omar&from=${latest?.at}&to=${after}`)).toContain(latest?.kind);
    const query = '?person=omar&kind=signed_in&limit=1';
    const page = await call(listAudit, { token: boss.token, query });
    expect(replyOf(page)).toMatchObject([{ kind: 'signed_in', actor_id: id, address: '127.0.0.1' }]);
    expect(page.headers.get('link')).toContain('person=omar&kind=signed_in&limit=1&cursor=');
    expect(replyOf(await call(listAudit, { token: boss.token, query: '?person=nobody' }))).toEqual([]);
    expect((await call(listAudit, { token: boss.token, query: '?kind=nothing' })).status).toBe(422);
  });

  test('is whole', async () => {
    const chain = replyOf(await call(checkAudit, { token: boss.token }));
    const [newest] = replyOf(await call(listAudit, { token: boss.token, query: '?limit=1' }));
    expect(chain).toMatchObject({ entries: newest?.seq, head: `${newest?.seq}:${newest?.hash}`, fault: null });
  });

  test('has one chain, however many are added at once', async () => {
    await Promise.all(Array.from({ length: 8 }, () => call(logout, { token: '' }).then(() => signIn())));
    expect(replyOf(await call(checkAudit, { token: boss.token })).fault).toBeNull();
  });
});

describe('the database', () => {
  const { database } = app.app;

  test.each([
    ['changes no entry', () => database.updateTable('audit_entries').set({ kind: 'signed_out' }).where('seq', '=', 1).execute()],
    [
      'changes nothing personal',
      () => database.updateTable('audit_entries').set({ personal: '{}' }).where('seq', '=', 1).execute(),
    ],
    ['removes no entry', () => database.deleteFrom('audit_entries').where('seq', '=', 1).execute()],
    ['does not move the end back', () => database.updateTable('audit_head').set({ seq: 1 }).execute()],
    ['does not lose the end', () => database.deleteFrom('audit_head').execute()],
  ])('%s', async (_, change) => {
    await expect(change()).rejects.toThrow('append-only');
    expect(replyOf(await call(checkAudit, { token: boss.token })).fault).toBeNull();
  });
});

type Database = TestApp['app']['database'];

/** A person with the database and its rights. */
async function unguard(database: Database): Promise<void> {
  if (database.getExecutor().adapter instanceof PostgresAdapter) {
    for (const table of ['audit_entries', 'audit_head'])
      await sql`alter table ${sql.table(table)} disable trigger user`.execute(database);
    return;
  }
  for (const trigger of ['audit_entries_update', 'audit_entries_delete', 'audit_head_update', 'audit_head_delete'])
    await sql`drop trigger ${sql.ref(trigger)}`.execute(database);
}

const keyOf = ({ data_dir }: TestApp) => readFileSync(join(data_dir, 'keys', 'audit.key'));

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
    const person = await app.signIn();
    const ours = app.app.database.$pickTables<'audit_entries' | 'audit_head'>();
    const added: Promise<unknown>[] = [];
    const growing = ours.withPlugin({
      transformQuery: ({ node }) => node,
      async transformResult({ result }) {
        // Each time it has reached the end, a person signs in.
        if (result.rows.length === 0 && added.length < 3) {
          const entry = { kind: 'signed_in', subject_id: person.email, actor_id: person.email } as const;
          added.push(createAudit({ now: Date.now, key: keyOf(app) }).record(ours, entry));
          // SQLite has one connection, which is the verifier's until it has its answer; callers follow in their order.
          if (isPostgres()) await added.at(-1);
        }
        return result;
      },
    });
    expect(await verifyAudit(growing, { key: keyOf(app) })).toMatchObject({ fault: null });
    await Promise.all(added);
    expect(added).toHaveLength(3);
  });

  test('begins again when old entries are removed while it reads', async () => {
    const aging = await startTestApp();
    for (const name of ['boss', 'maria', 'zoe']) await aging.signIn(name);
    const entries = aging.app.database.$pickTables<'audit_entries' | 'audit_head'>();
    const audit = createAudit({ now: Date.now, key: keyOf(aging) });
    let queries = 0;
    let removed = 0;
    // Everything is removed after the verifier has read where the log begins, and before it reads the entries.
    const shrinking = beforeQueries(entries, async () => {
      queries += 1;
      if (queries === 2) removed = await audit.forgetOld(entries, new Date(Date.now() + 60_000).toISOString());
    });
    expect(await verifyAudit(shrinking, { key: keyOf(aging) })).toMatchObject({ fault: null, entries: removed });
    expect(removed).toBeGreaterThan(2);
  });

  const fresh = await startTestApp();
  const headOf = (database: Database) => database.selectFrom('audit_head').selectAll().executeTakeFirstOrThrow();
  const atFirst = await headOf(fresh.app.database);
  await fresh.signIn('boss');
  const earlier = await headOf(fresh.app.database);
  await fresh.signIn('maria');
  const verify = (database: Database, ...marks: AuditMark[]) =>
    verifyAudit(database.$pickTables<'audit_entries' | 'audit_head'>(), { key: keyOf(fresh), marks });
  const entry = (database: Database, seq: number) =>
    database.selectFrom('audit_entries').selectAll().where('seq', '=', seq).executeTakeFirstOrThrow();
  /** Puts an older copy of the log back: entries and end as they were. */
  const rollBack = async (database: Database, head: Awaited<ReturnType<typeof headOf>>) => {
    await database.deleteFrom('audit_entries').where('seq', '>', head.seq).execute();
    await database.updateTable('audit_head').set(head).execute();
  };
  /** Chains everything anew, as a person can who has the database and this program, but not the key. */
  const chainAnew = async (database: Database, last = 2 ** 31 - 1) => {
    let before = '0'.repeat(64);
    for (const row of await database.selectFrom('audit_entries').selectAll().where('seq', '<=', last).orderBy('seq').execute()) {
      before = entryHash(undefined, before, row);
      await database.updateTable('audit_entries').set({ hash: before }).where('seq', '=', row.seq).execute();
    }
    return before;
  };

  test.each<[string, (database: Database) => Promise<unknown>, { seq: number; reason: RegExp }]>([
    [
      'an entry that was changed',
      (database) => database.updateTable('audit_entries').set({ kind: 'signed_out' }).where('seq', '=', 2).execute(),
      { seq: 2, reason: /changed/ },
    ],
    [
      'a person who was exchanged',
      (database) => database.updateTable('audit_entries').set({ actor_id: null }).where('seq', '=', 3).execute(),
      { seq: 3, reason: /changed/ },
    ],
    [
      'something personal that was changed',
      (database) => database.updateTable('audit_entries').set({ personal: '{}' }).where('seq', '=', 2).execute(),
      { seq: 2, reason: /personal data was changed/ },
    ],
    [
      'something personal that was taken out of an account that is there',
      (database) => database.updateTable('audit_entries').set({ personal: null }).where('seq', '=', 2).execute(),
      { seq: 2, reason: /no account was deleted/ },
    ],
    [
      'an entry that was taken out',
      (database) => database.deleteFrom('audit_entries').where('seq', '=', 2).execute(),
      { seq: 2, reason: /missing/ },
    ],
    [
      'two that were exchanged',
      async (database) => {
        for (const [from, to] of [
          [2, -1],
          [3, 2],
          [-1, 3],
        ] as const)
          await database.updateTable('audit_entries').set({ seq: to }).where('seq', '=', from).execute();
      },
      { seq: 2, reason: /moved/ },
    ],
    [
      'one that was put in',
      async (database) => {
        for (const seq of [4, 3, 2])
          await database
            .updateTable('audit_entries')
            .set({ seq: seq + 1 })
            .where('seq', '=', seq)
            .execute();
        await database
          .insertInto('audit_entries')
          .values({ ...(await entry(database, 3)), seq: 2 })
          .execute();
      },
      { seq: 3, reason: /added without the key/ },
    ],
    [
      'an end that was cut off',
      (database) => database.deleteFrom('audit_entries').where('seq', '=', 4).execute(),
      { seq: 4, reason: /cut off: the log had 4/ },
    ],
    [
      'one that was added past the end',
      async (database) =>
        database
          .insertInto('audit_entries')
          .values({ ...(await entry(database, 4)), seq: 5 })
          .execute(),
      { seq: 5, reason: /changed/ },
    ],
    [
      'an end that is gone',
      (database) => database.deleteFrom('audit_head').execute(),
      { seq: 1, reason: /log’s end is missing/ },
    ],
    [
      'a log that was changed and chained anew without the key',
      async (database) => {
        await database.updateTable('audit_entries').set({ kind: 'signed_out' }).where('seq', '=', 2).execute();
        await database
          .updateTable('audit_head')
          .set({ hash: await chainAnew(database) })
          .execute();
      },
      { seq: 1, reason: /without the key/ },
    ],
    [
      'the same, with an end that says that the log was never sealed',
      async (database) => {
        await database.updateTable('audit_entries').set({ kind: 'signed_out' }).where('seq', '=', 2).execute();
        await database
          .updateTable('audit_head')
          .set({ hash: await chainAnew(database), keyed_from: null, mac: null })
          .execute();
      },
      { seq: 4, reason: /isn’t signed with the key/ },
    ],
    [
      'a beginning that was cut off and called removed after its time',
      async (database) => {
        await database.deleteFrom('audit_entries').where('seq', '<=', 2).execute();
        await database.updateTable('audit_head').set({ anchor_seq: 2, anchor_hash: earlier.hash }).execute();
      },
      { seq: 4, reason: /isn’t signed with the key/ },
    ],
    [
      'a log that was emptied, with an end of its own',
      async (database) => {
        await database.deleteFrom('audit_entries').execute();
        await database
          .updateTable('audit_head')
          .set({ seq: 0, hash: '0'.repeat(64) })
          .execute();
      },
      { seq: 0, reason: /isn’t signed with the key/ },
    ],
  ])('finds %s', async (_, tamper, { seq, reason }) => {
    const tampered = inTransaction(fresh.app.database, async (transaction) => {
      expect((await verify(transaction)).fault).toBeNull();
      await unguard(transaction);
      await tamper(transaction);
      throw new Undone(await verify(transaction));
    });
    const { fault } = await tampered.catch((error: unknown) => {
      if (error instanceof Undone) return error.verdict;
      throw error;
    });
    expect(fault?.seq).toBe(seq);
    expect(fault?.reason).toMatch(reason);
  });

  test.each([
    // proves: attack-B.13-1
    ['the beginning, before anybody was there', atFirst, /cut off: the saved head is at entry 4\. The log is empty\./],
    ['a copy of yesterday', earlier, /cut off: the saved head is at entry 4\. Someone tampered with the log, or an older/],
  ])('finds with a noted head that the log was put back to %s', async (_, head, reason) => {
    const { seq, hash } = await headOf(fresh.app.database);
    const tampered = inTransaction(fresh.app.database, async (transaction) => {
      await unguard(transaction);
      await rollBack(transaction, head);
      expect((await verify(transaction)).fault).toBeNull();
      throw new Undone(await verify(transaction, { seq, hash, by: 'the saved head' }));
    });
    const { fault } = await tampered.catch((error: unknown) => {
      if (error instanceof Undone) return error.verdict;
      throw error;
    });
    expect(fault).toMatchObject({ seq: head.seq + 1 });
    expect(fault?.reason).toMatch(reason);
  });

  // proves: attack-B.13-1
  test('finds with a noted head a log that was rewritten to the end', async () => {
    const { database } = fresh.app;
    const { seq, hash } = await headOf(database);
    const noted = { seq, hash, by: 'the saved head' } as const;
    expect((await verify(database, noted)).fault).toBeNull();
    await unguard(database);
    await rollBack(database, earlier);
    await fresh.signIn('zoe');
    expect((await verify(database)).fault).toBeNull();
    expect((await verify(database, noted)).fault).toMatchObject({ seq: 4, reason: containing('rewritten') });
  });

  test("finds by the server's note beside its keys that the log was put back, and the server never notes the other one", async () => {
    const served = await startTestApp();
    const { database } = served.app;
    const note = join(served.data_dir, 'keys', 'audit.head');
    const empty = await headOf(database);
    const admin = await served.signIn('boss');
    await vi.waitFor(() => expect(readFileSync(note, 'utf8')).toContain('"seq":2,'), { timeout: 10_000 });
    const noted = readFileSync(note, 'utf8');
    expect(statSync(note).mode & 0o777).toBe(0o600);
    await unguard(database);
    await rollBack(database, empty);
    const { fault } = replyOf(await served.call(checkAudit, { token: admin.token }));
    expect(fault).toMatchObject({ seq: 1, reason: containing('The log is empty.') });
    for (const name of ['eva', 'lea']) await served.signIn(name);
    const { fault: later } = replyOf(await served.call(checkAudit, { token: admin.token }));
    expect(later).toMatchObject({ seq: 2, reason: containing('this server’s own note. The log was rewritten') });
    await served.app.close();
    expect(readFileSync(note, 'utf8')).toBe(noted);
  });

  // proves: attack-B.13-1
  test('a server that has seen the log sealed does not take one that says it never was', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'palisade-audit-'));
    onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
    const place = { environment: { DATA_DIR: folder }, surroundings: { database: { sqlite: join(folder, 'palisade.sqlite') } } };
    const before = await startTestApp(place);
    await before.signIn('boss');
    await before.app.close();
    const database = openDatabase<Tables>(place.surroundings.database);
    await unguard(database);
    await database
      .updateTable('audit_head')
      .set({ hash: await chainAnew(database), keyed_from: null, mac: null })
      .execute();
    await database.destroy();
    const after = await startTestApp(place);
    await after.signIn('boss');
    expect(await headOf(after.app.database)).toMatchObject({ keyed_from: null, mac: null });
    expect(await runCommand('verify-audit.ts', { DATA_DIR: folder })).toMatchObject({
      code: 1,
      output: containing('failed its check'),
    });
  });

  test('takes the log of before there was a key, and seals its end into the first entry after it', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'palisade-audit-'));
    onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
    const place = { environment: { DATA_DIR: folder }, surroundings: { database: { sqlite: join(folder, 'palisade.sqlite') } } };
    const before = await startTestApp(place);
    await before.signIn('boss');
    await before.app.close();
    // As a version without a key has left it.
    const database = openDatabase<Tables>(place.surroundings.database);
    await unguard(database);
    await database
      .updateTable('audit_head')
      .set({ hash: await chainAnew(database), keyed_from: null, mac: null })
      .execute();
    await database.deleteFrom('installation').where('name', '=', 'key_check.audit').execute();
    await database.destroy();
    for (const name of ['audit.key', 'audit.head']) rmSync(join(folder, 'keys', name));

    const after = await startTestApp(place);
    await after.signIn('eva');
    expect(await headOf(after.app.database)).toMatchObject({ seq: 4, keyed_from: 3 });
    expect(await runCommand('verify-audit.ts', { DATA_DIR: folder })).toMatchObject({
      code: 0,
      output: containing('Entries before 3 are older than the log’s key'),
    });
    // An earlier note of its own would contradict the change here.
    await vi.waitFor(() => expect(readFileSync(join(folder, 'keys', 'audit.head'), 'utf8')).toContain('"seq":4,'), {
      timeout: 10_000,
    });
    await after.app.database.updateTable('audit_entries').set({ at: '2020-01-01T00:00:00.000Z' }).where('seq', '=', 1).execute();
    await chainAnew(after.app.database, 2);
    expect(await runCommand('verify-audit.ts', { DATA_DIR: folder })).toMatchObject({
      code: 1,
      output: containing('Entry 3: This entry or the one before it was changed, moved, or added without the key.'),
    });
  });

  test('is a command that ends with 0 or 1 and says why', async () => {
    const DATA_DIR = mkdtempSync(join(tmpdir(), 'palisade-audit-'));
    onTestFinished(() => rmSync(DATA_DIR, { recursive: true, force: true }));
    const missing = await runCommand('verify-audit.ts', { DATA_DIR });
    expect(missing).toMatchObject({ code: 1, output: containing('There is no database at') });

    const onDisk = await startTestApp({
      environment: { DATA_DIR },
      surroundings: { database: { sqlite: join(DATA_DIR, 'palisade.sqlite') } },
    });
    await onDisk.signIn('boss');
    const whole = await runCommand('verify-audit.ts', { DATA_DIR });
    expect(whole).toMatchObject({ code: 0, output: containing('is intact: 2 entries') });
    const head = /later: (\S+)/.exec(whole.output)?.[1] ?? '';
    expect(await runCommand('verify-audit.ts', { DATA_DIR }, ['--head', head])).toMatchObject({ code: 0 });
    expect(await runCommand('verify-audit.ts', { DATA_DIR }, ['--head', 'yesterday'])).toMatchObject({ code: 1 });
    await unguard(onDisk.app.database);
    await onDisk.app.database.updateTable('audit_entries').set({ at: '2020-01-01T00:00:00.000Z' }).where('seq', '=', 1).execute();
    expect(await runCommand('verify-audit.ts', { DATA_DIR })).toMatchObject({
      code: 1,
      output: containing('Entry 1: This entry or the one before it was changed'),
    });
  });
});

test('needs the right to read it', async () => {
  const { token } = await signIn();
  for (const endpoint of [listAudit, checkAudit]) expect((await call(endpoint, { token })).status).toBe(403);
  expect((await call(listActivity)).status).toBe(401);
  expect(await kinds(token)).toEqual(['signed_in', 'account_registered']);
});
