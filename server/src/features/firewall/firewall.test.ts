import { TOTAL_HEADER } from '@palisade/contract/fields';
import {
  addRule,
  changeRules,
  deleteRule,
  importRules,
  LASTS,
  listRevisions,
  listRules,
  type NewRule,
  REVISIONS_KEPT,
  RULE_DEFAULTS,
  RULES_MAXIMUM,
  type Rule,
  type RuleChange,
  setRuleEnabled,
  undoRevision,
} from '@palisade/contract/firewall';
import { describe, expect, test } from 'vitest';
import { addPerson, featureDatabase, heldJobs } from '#test/feature-database.ts';
import { problemOf, replyOf, startTestApp } from '#test/harness.ts';
import { createFirewall } from './firewall.ts';

const NEW: NewRule = { rule_name: 'Web server', ...RULE_DEFAULTS };
const FILE_RULE = { ...NEW, enabled: true };
const UNKNOWN_ID = '01930000-0000-7000-8000-000000000001';

const database = await featureDatabase();
const clock = { now: Date.parse('2026-11-20T10:00:00.000Z') };
const jobs = heldJobs();
const told: string[] = [];
const firewall = createFirewall({ database, jobs, onChange: (user_id) => told.push(user_id), now: () => clock.now });

/** The row of a rule, which routes hand in after the check of its owner. */
async function rowOf(id: string) {
  const row = await firewall.find(id);
  if (row === undefined) throw new Error(`no rule ${id}`);
  return row;
}
const switchTo = async ({ id }: Rule, enabled: boolean) => await firewall.setEnabled(await rowOf(id), enabled);
const edit = async ({ id }: Rule, change: Partial<NewRule>) => await firewall.edit(await rowOf(id), { ...NEW, ...change });
const namesOf = async (user_id: string) => (await firewall.listRules(user_id)).map(({ rule_name }) => rule_name);
const revisionsOf = (user_id: string) => firewall.revisions(user_id, { limit: REVISIONS_KEPT + 1 });
async function undo(id = '') {
  const revision = await firewall.findRevision(id);
  if (revision === undefined) throw new Error(`no revision ${id}`);
  return await firewall.undo(revision);
}
const start = () => addPerson(database);

describe('a rule', () => {
  test('is stored enabled, with every field, and listed with the newest first', async () => {
    const user_id = await start();
    const rule = await firewall.add(user_id, { ...NEW, port: '443' });
    expect(rule).toEqual({
      ...{ ...NEW, port: '443', id: rule.id, enabled: true, created_at: '2026-11-20T10:00:00.000Z' },
      ...{ expires_at: null, device_ids: [] },
    });
    const named = await firewall.add(user_id, {
      ...NEW,
      rule_name: `'); drop table firewall_rules; --`,
      device_ids: [UNKNOWN_ID],
    });
    expect(await firewall.listRules(user_id)).toEqual([named, rule]);
    expect(await firewall.list(user_id, { limit: 1, cursor: named.id })).toEqual([rule]);
    expect(await firewall.listRules(await start())).toEqual([]);
  });

  test('is not handed to devices when it is off, or an older version stored what no device can read', async () => {
    const user_id = await start();
    const readable = await firewall.add(user_id, { ...NEW, port: '443' });
    const off = await firewall.add(user_id, NEW);
    await switchTo(off, false);
    const old: Partial<NewRule>[] = [
      { port: '0' },
      { source_ip: 'localhost' },
      { destination_ip: '10.0.0.0/33' },
      { protocol: 'icmp', port: '22' },
    ];
    for (const terms of old) await firewall.add(user_id, { ...NEW, ...terms });
    expect(await firewall.enforced(user_id)).toEqual({ rev: 7, rules: [readable] });
  });

  test('is edited in place: its fields, but neither its switch nor its devices when these are omitted', async () => {
    const user_id = await start();
    const rule = await firewall.add(user_id, { ...NEW, device_ids: [UNKNOWN_ID] });
    await switchTo(rule, false);
    const terms = { rule_name: 'Printer', port: '631', protocol: 'all', action: 'block' } as const;
    expect(await edit(rule, terms)).toEqual({ ...rule, ...terms, enabled: false });
    expect(await edit(rule, { device_ids: [] })).toMatchObject({ device_ids: [] });
  });

  test('that is gone is not found, by each of several changes at once but one', async () => {
    const user_id = await start();
    const { id } = await firewall.add(user_id, NEW);
    const row = await rowOf(id);
    const ends = await Promise.allSettled([1, 2, 3, 4].map(() => firewall.remove(row)));
    expect(ends.map(({ status }) => status).sort()).toEqual(['fulfilled', 'rejected', 'rejected', 'rejected']);
    await expect(firewall.setEnabled(row, true)).rejects.toMatchObject({ code: 'not_found' });
    expect(await firewall.listRules(user_id)).toEqual([]);
  });

  test('is off when its time is over, which is a revision; switched on again it lasts', async () => {
    const user_id = await start();
    const rule = await firewall.add(user_id, { ...NEW, lasts: 'hour' });
    expect(rule.expires_at).toBe(new Date(clock.now + LASTS.hour).toISOString());
    const longer = await firewall.add(user_id, { ...NEW, lasts: 'day' });
    clock.now += LASTS.hour;
    // At once, before the job.
    expect((await firewall.listRules(user_id)).map(({ enabled }) => enabled)).toEqual([true, false]);
    await jobs.run('rule-expiry');
    await jobs.run('rule-expiry');
    expect((await revisionsOf(user_id)).map(({ kind }) => kind)).toEqual(['expired', 'added', 'added']);
    expect(told).toEqual([user_id]);
    expect(await switchTo(rule, true)).toMatchObject({ enabled: true, expires_at: null });
    expect(await edit(rule, { lasts: 'day' })).toMatchObject({ expires_at: new Date(clock.now + LASTS.day).toISOString() });
    expect(await edit(longer, {})).toMatchObject({ expires_at: longer.expires_at });
    expect(await edit(rule, { lasts: null })).toMatchObject({ expires_at: null });
  });

  test('of a person with more than the maximum can be changed and replaced by fewer, and no more are added', async () => {
    const user_id = await start();
    const rule = await firewall.add(user_id, NEW);
    const rules = RULES_MAXIMUM + 2;
    await database.updateTable('firewall_rule_counts').set({ rules }).where('user_id', '=', user_id).execute();
    expect(await edit(rule, { port: '443' })).toMatchObject({ port: '443' });
    expect(await firewall.importRules(user_id, [FILE_RULE], true)).toEqual({ added: 1, removed: 1 });
    await expect(firewall.add(user_id, NEW)).rejects.toMatchObject({ code: 'rule_limit' });
  });

  test.each(['add', 'import'] as const)('fits below the maximum only, however many come at once: %s', async (way) => {
    const user_id = await start();
    await firewall.importRules(user_id, Array<typeof FILE_RULE>(RULES_MAXIMUM - 2).fill(FILE_RULE), false);
    const addOne = () => (way === 'add' ? firewall.add(user_id, NEW) : firewall.importRules(user_id, [FILE_RULE], false));
    const ends = await Promise.allSettled([1, 2, 3, 4].map(addOne));
    expect(ends.map(({ status }) => status).sort()).toEqual(['fulfilled', 'fulfilled', 'rejected', 'rejected']);
    await expect(addOne()).rejects.toMatchObject({
      code: 'rule_limit',
      message: 'You have 1000 rules, the maximum. Delete one to add another.',
    });
    expect(await firewall.countRules(user_id)).toBe(RULES_MAXIMUM);
    const [first] = await firewall.listRules(user_id);
    const row = await rowOf(first?.id ?? '');
    await Promise.allSettled([firewall.remove(row), firewall.remove(row)]);
    expect((await Promise.allSettled([addOne(), addOne()])).map(({ status }) => status).sort()).toEqual([
      'fulfilled',
      'rejected',
    ]);
  });
});

describe('a change of the rules', () => {
  test('is a revision each with a description, and a change without effect is none', async () => {
    const user_id = await start();
    expect([await revisionsOf(user_id), await firewall.rev(user_id)]).toEqual([[], 0]);
    const rule = await firewall.add(user_id, NEW);
    for (const enabled of [false, false, true]) await switchTo(rule, enabled);
    for (const rule_name of ['Web server', 'Shop']) await edit(rule, { rule_name });
    await firewall.remove(await rowOf(rule.id));
    const revisions = await revisionsOf(user_id);
    expect(
      revisions.map(({ rev, kind, rule_name, added, changed, removed }) => [rev, kind, rule_name, added, changed, removed]),
    ).toEqual([
      [5, 'deleted', 'Shop', 0, 0, 1],
      [4, 'edited', 'Shop', 0, 1, 0],
      [3, 'enabled', 'Web server', 0, 1, 0],
      [2, 'disabled', 'Web server', 0, 1, 0],
      [1, 'added', 'Web server', 1, 0, 0],
    ]);
    expect(await firewall.revisions(user_id, { limit: 2, cursor: revisions[1]?.id })).toEqual(revisions.slice(2, 4));
    expect(await firewall.rev(user_id)).toBe(5);
  });

  test('is taken back, and so is what took it back', async () => {
    const user_id = await start();
    const kept = await firewall.add(user_id, { ...NEW, rule_name: 'kept' });
    await firewall.add(user_id, { ...NEW, rule_name: 'other' });
    await firewall.remove(await rowOf(kept.id));
    const undone = await undo((await revisionsOf(user_id))[0]?.id);
    expect(undone).toMatchObject({ kind: 'undone', rule_name: 'kept', added: 1, changed: 0, removed: 0 });
    // It is the same rule, at its place.
    expect((await firewall.listRules(user_id)).at(-1)).toEqual(kept);
    await undo(undone.id);
    expect(await namesOf(user_id)).toEqual(['other']);
    // Everything since the first addition.
    await undo((await revisionsOf(user_id)).at(-1)?.id);
    expect(await namesOf(user_id)).toEqual([]);
    await expect(undo((await revisionsOf(user_id)).at(-1)?.id)).rejects.toMatchObject({ code: 'conflict' });
  });

  test('of several at once is one after the other, and all of them can be taken back', async () => {
    const user_id = await start();
    const rule = await firewall.add(user_id, NEW);
    const row = await rowOf(rule.id);
    await Promise.allSettled([
      ...Array.from({ length: 6 }, () => firewall.add(user_id, NEW)),
      firewall.setEnabled(row, false),
      firewall.remove(row),
    ]);
    const made = await revisionsOf(user_id);
    expect(made.map(({ rev }) => rev)).toEqual(Array.from({ length: made.length }, (_, index) => made.length - index));
    await undo(made.find(({ rev }) => rev === 2)?.id);
    expect(await firewall.listRules(user_id)).toEqual([rule]);
  });

  test('is kept a hundred times; an older one cannot be undone', async () => {
    const user_id = await start();
    const rule = await firewall.add(user_id, NEW);
    const first = await firewall.findRevision((await revisionsOf(user_id))[0]?.id ?? '');
    await edit(rule, { rule_name: 'Renamed' });
    for (let index = 1; index < REVISIONS_KEPT; index += 1) await switchTo(rule, index % 2 === 0);
    const kept = await revisionsOf(user_id);
    expect(kept.map(({ rev }) => rev)).toEqual(Array.from({ length: REVISIONS_KEPT }, (_, index) => REVISIONS_KEPT + 1 - index));
    if (first === undefined) throw new Error('no first revision');
    await expect(firewall.undo(first)).rejects.toMatchObject({ code: 'not_found' });
    await undo(kept.at(-1)?.id);
    expect(await firewall.listRules(user_id)).toEqual([rule]);
  });

  test('of several rules is one, undone as one, and leaves other people’s rules alone', async () => {
    const [user_id, other_id] = [await start(), await start()];
    const add = async (owner: string, rule_name: string) => (await firewall.add(owner, { ...NEW, rule_name })).id;
    const [one, two, three] = [await add(user_id, 'one'), await add(user_id, 'two'), await add(user_id, 'three')];
    const foreign = await add(other_id, 'foreign');
    const change = (wanted: RuleChange, ...ids: string[]) => firewall.changeRules(user_id, ids, wanted);

    expect(await change('disable', one, two, foreign)).toBe(2);
    // The second time changes no rule, so there is no revision to undo.
    expect(await change('disable', one, two)).toBe(0);
    expect((await revisionsOf(user_id))[0]).toMatchObject({ kind: 'disabled', rule_name: null, changed: 2 });
    expect((await firewall.enforced(user_id)).rules.map(({ id }) => id)).toEqual([three]);
    expect(await change('delete', one, three, UNKNOWN_ID, foreign)).toBe(2);
    expect(await namesOf(user_id)).toEqual(['two']);
    const [deleted] = await revisionsOf(user_id);
    expect(deleted).toMatchObject({ kind: 'deleted', removed: 2 });
    await undo(deleted?.id);
    expect((await firewall.listRules(user_id)).map(({ id, enabled }) => [id, enabled])).toEqual([
      [three, true],
      [two, false],
      [one, false],
    ]);
    expect(await change('enable', one, two, three)).toBe(2);
    expect(await firewall.listRules(other_id)).toMatchObject([{ id: foreign, enabled: true }]);
  });

  test('by a file is all of it or nothing, and undone as one', async () => {
    const user_id = await start();
    await firewall.add(user_id, { ...NEW, rule_name: 'before' });
    const off = { ...FILE_RULE, rule_name: 'SSH', port: '22', enabled: false };
    expect(await firewall.importRules(user_id, [FILE_RULE, off], false)).toEqual({ added: 2, removed: 0 });
    expect(await firewall.listRules(user_id)).toMatchObject([FILE_RULE, off, { rule_name: 'before' }]);
    const many = Array<typeof FILE_RULE>(RULES_MAXIMUM - 1).fill(FILE_RULE);
    await expect(firewall.importRules(user_id, many, false)).rejects.toMatchObject({
      message: 'You have 3 of 1000 rules, so 999 more don’t fit. Delete some first.',
    });
    expect(await namesOf(user_id)).toEqual(['Web server', 'SSH', 'before']);
    expect(await firewall.importRules(user_id, many, true)).toEqual({ added: 999, removed: 3 });
    const [imported] = await revisionsOf(user_id);
    expect(imported).toMatchObject({ kind: 'imported', rule_name: null, added: 999, removed: 3 });
    await undo(imported?.id);
    expect(await namesOf(user_id)).toEqual(['Web server', 'SSH', 'before']);
  });

  test('goes with the account', async () => {
    const user_id = await start();
    await firewall.add(user_id, NEW);
    await database.deleteFrom('users').where('id', '=', user_id).execute();
    expect(await revisionsOf(user_id)).toEqual([]);
  });
});

describe('the routes', async () => {
  const { app, call, signIn } = await startTestApp();
  const { token } = await signIn();
  const post = (payload: object) =>
    app.fastify.inject({ method: 'POST', url: '/api/firewall/rules', payload, headers: { authorization: `Bearer ${token}` } });

  test('take a rule by its name, and answer pages with a link and a total', async () => {
    for (const rule_name of ['one', 'two', 'three']) {
      const answer = await post({ rule_name, user_id: UNKNOWN_ID, enabled: false });
      expect(answer.statusCode).toBe(201);
      expect(answer.json()).toMatchObject({ rule_name, ...RULE_DEFAULTS, enabled: true });
      expect(answer.json()).not.toHaveProperty('user_id');
    }
    const page = await call(listRules, { token, query: '?limit=2' });
    expect(page.headers.get(TOTAL_HEADER)).toBe('3');
    const next = /<\/api\/firewall\/rules(.*)>; rel="next"/u.exec(page.headers.get('link') ?? '')?.[1] ?? '';
    const last = await call(listRules, { token, query: next });
    expect(replyOf(last).map(({ rule_name }) => rule_name)).toEqual(['one']);
    expect(last.headers.get('link')).toBeNull();
    expect((await call(listRules, { token, query: '?limit=501' })).status).toBe(422);
    const revisions = await call(listRevisions, { token, query: '?limit=2' });
    expect(revisions.headers.get('link')).toMatch(/^<\/api\/firewall\/revisions\?.*>; rel="next"$/u);
  });

  test('change, import, undo and delete', async () => {
    const own = await signIn();
    const { id } = replyOf(await call(addRule, { token: own.token, body: NEW }));
    const params = { id };
    expect(replyOf(await call(setRuleEnabled, { token: own.token, params, body: { enabled: false } })).enabled).toBe(false);
    expect(replyOf(await call(changeRules, { token: own.token, body: { rule_ids: [id], change: 'enable' } }))).toEqual({
      changed: 1,
    });
    const rules = [NEW, { ...NEW, port: '99999' }];
    expect(problemOf(await call(importRules, { token: own.token, body: { rules } })).errors).toEqual([
      { field: 'rules.1.port', message: 'A port is a whole number from 1 to 65535: 99999' },
    ]);
    expect(replyOf(await call(importRules, { token: own.token, body: { rules: [NEW] } }))).toEqual({ added: 1, removed: 0 });
    const [imported] = replyOf(await call(listRevisions, { token: own.token }));
    expect(replyOf(await call(undoRevision, { token: own.token, params: { id: imported?.id ?? '' } })).kind).toBe('undone');
    expect((await call(deleteRule, { token: own.token, params })).status).toBe(204);
    expect(problemOf(await call(deleteRule, { token: own.token, params }))).toMatchObject({ status: 404, code: 'not_found' });
  });
});
