import { TOTAL_HEADER } from '@palisade/contract/fields';
import {
  addRule,
  changeRules,
  deleteRule,
  editRule,
  importRules,
  listRevisions,
  listRules,
  type NewRule,
  REVISIONS_KEPT,
  RULE_DEFAULTS,
  RULES_MAXIMUM,
  ruleFileSchema,
  setRuleEnabled,
  undoRevision,
} from '@palisade/contract/firewall';
import { problemSchema } from '@palisade/contract/problem';
import { describe, expect, test, vi } from 'vitest';
import { problemOf, replyOf, startTestApp } from '#test/harness.ts';

const NEW: NewRule = { rule_name: 'Web server', ...RULE_DEFAULTS };
const SOMEBODYS_ID = '01930000-0000-7000-8000-000000000001';

describe('firewall rules', async () => {
  const { call, signIn, url } = await startTestApp();
  const { token } = await signIn();
  const add = async (change: Partial<NewRule> = {}) => replyOf(await call(addRule, { token, body: { ...NEW, ...change } }));
  /** Sends bodies that no type allows. */
  const post = (body: unknown, headers: Record<string, string> = {}) =>
    fetch(`${url}/api/firewall/rules`, {
      method: 'POST',
      headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json', ...headers },
      body: typeof body === 'string' ? body : JSON.stringify(body),
    });
  const problem = async (response: Response) => problemSchema.parse(await response.json());

  test('a new rule answers with every field of the entity, enabled', async () => {
    const rule = await add({ port: '443' });
    expect(rule).toEqual({
      ...NEW,
      port: '443',
      id: rule.id,
      enabled: true,
      created_at: rule.created_at,
      expires_at: null,
      device_ids: [],
    });
  });

  test('addresses and port are * when they are left out', async () => {
    const { source_ip, destination_ip, port, ...rest } = NEW;
    expect([source_ip, destination_ip, port]).toEqual(['*', '*', '*']);
    const response = await post(rest);
    expect(response.status).toBe(201);
    expect(await response.json()).toMatchObject({ source_ip: '*', destination_ip: '*', port: '*' });
  });

  test('valid input is stored as typed, without the blanks around it; the ways to say "every" are one', async () => {
    expect(
      await add({
        rule_name: '  Büro  <b>“office”</b> ',
        source_ip: ' 2001:DB8:0:0::1 , 2001:db8::/32 ',
        destination_ip: ' Any ',
        port: ' 80, 8000 - 8100 ',
      }),
    ).toMatchObject({
      rule_name: 'Büro  <b>“office”</b>',
      source_ip: '2001:DB8:0:0::1 , 2001:db8::/32',
      destination_ip: '*',
      port: '80, 8000 - 8100',
    });
    expect(await add({ source_ip: '', destination_ip: '   ', port: 'ANY' })).toMatchObject({
      source_ip: '*',
      destination_ip: '*',
      port: '*',
    });
  });

  test('SQL and script in a name is a name', async () => {
    const rule_name = `'); drop table firewall_rules; -- <script>alert(1)</script>`;
    await add({ rule_name });
    expect(replyOf(await call(listRules, { token }))[0]?.rule_name).toBe(rule_name);
  });

  test.each([
    ['rule_name', '   ', 'Enter a rule name.'],
    ['rule_name', 'x'.repeat(101), 'Use at most 100 characters for the rule name.'],
    ['rule_name', 'a\u0000b', 'Remove the control characters from the rule name.'],
    ['rule_name', 'a\ud800', 'Remove the control characters from the rule name.'],
    ['rule_name', 7, 'Enter a rule name.'],
    ['rule_name', undefined, 'Enter a rule name.'],
    ['direction', 'sideways', 'Choose inbound or outbound.'],
    ['direction', null, 'Choose inbound or outbound.'],
    ['action', 'ALLOW', 'Choose allow or block.'],
    ['protocol', 'sctp', 'Choose tcp, udp, icmp, or all.'],
    ['source_ip', 'example.com', 'Enter an IP address like 192.168.1.10, not a host name: example.com'],
    ['source_ip', '10.0.0.9-10.0.0.1', 'Start the range with the lower number: 10.0.0.9-10.0.0.1'],
    ['source_ip', Array(65).fill('10.0.0.1').join(), 'A list can have at most 64 entries. This one has 65.'],
    ['source_ip', 'x'.repeat(7_000), 'Use at most 6500 characters.'],
    ['source_ip', 'x'.repeat(100_000), 'Use at most 8192 characters.'],
    ['source_ip', null, 'Enter text, or * for every value.'],
    ['destination_ip', ['10.0.0.1'], 'Enter text, or * for every value.'],
    ['port', '8100-8000', 'Start the range with the lower number: 8100-8000'],
    ['port', '1e309', 'A port is a whole number from 1 to 65535: 1e309'],
    ['port', 443, 'Enter text, or * for every value.'],
    ['port', Array(33).fill('1').join(), 'A list can have at most 32 entries. This one has 33.'],
  ])('%s %j is 422 and names a right value', async (field, value, message) => {
    const response = await post({ ...NEW, [field]: value });
    expect(response.status).toBe(422);
    const document = await problem(response);
    expect(document).toMatchObject({ code: 'invalid_field', errors: [{ field, message }] });
    expect(document.detail).toContain(message);
  });

  test('a name alone makes a rule with the specification’s defaults', async () => {
    const response = await post({ rule_name: 'Only a name' });
    expect(response.status).toBe(201);
    expect(await response.json()).toMatchObject({ rule_name: 'Only a name', ...RULE_DEFAULTS, enabled: true });
  });

  test('ICMP with a port is refused at the port, two families at the destination', async () => {
    expect(problemOf(await call(addRule, { token, body: { ...NEW, protocol: 'icmp', port: '7' } })).errors).toEqual([
      { field: 'port', message: 'ICMP has no ports. Leave the port as *.' },
    ]);
    expect(
      problemOf(await call(addRule, { token, body: { ...NEW, source_ip: '10.0.0.1', destination_ip: '::1' } })).errors,
    ).toEqual([
      {
        field: 'destination_ip',
        message: 'The source is IPv4, so use IPv4 or * for the destination instead of IPv6.',
      },
    ]);
    expect(await add({ protocol: 'icmp', port: 'any', source_ip: '::1' })).toMatchObject({ protocol: 'icmp', port: '*' });
  });

  test('several bad fields are named together', async () => {
    const document = await problem(await post({ ...NEW, rule_name: '', source_ip: 'x', port: '0' }));
    expect(document.errors?.map(({ field }) => field)).toEqual(['rule_name', 'source_ip', 'port']);
  });

  test('malformed JSON is 400, another type 415, 1 MB 413, an unknown field is ignored and not echoed', async () => {
    expect((await post('{"rule_name":')).status).toBe(400);
    expect((await post('a=b', { 'content-type': 'application/x-www-form-urlencoded' })).status).toBe(415);
    expect((await post({ ...NEW, rule_name: 'x'.repeat(1_000_000) })).status).toBe(413);
    const response = await post({ ...NEW, user_id: SOMEBODYS_ID, enabled: false, extra: 'x' });
    expect(response.status).toBe(201);
    const rule: unknown = await response.json();
    expect(rule).toMatchObject({ enabled: true });
    expect(rule).not.toHaveProperty('extra');
    expect(rule).not.toHaveProperty('user_id');
  });

  test('a rule is disabled and enabled, and the changed rule answers', async () => {
    const { id } = await add();
    expect(replyOf(await call(setRuleEnabled, { token, params: { id }, body: { enabled: false } })).enabled).toBe(false);
    expect(replyOf(await call(listRules, { token })).find((rule) => rule.id === id)?.enabled).toBe(false);
    // The same value twice is no mistake: two clicks at once send it so.
    const both = await Promise.all([1, 2].map(() => call(setRuleEnabled, { token, params: { id }, body: { enabled: true } })));
    expect(both.map((answer) => replyOf(answer).enabled)).toEqual([true, true]);
  });

  test.each([{ enabled: 'false' }, { enabled: 0 }, { enabled: null }, {}])('%j does not enable or disable', async (body) => {
    const { id } = await add();
    const response = await fetch(`${url}/api/firewall/rules/${id}`, {
      method: 'PUT',
      headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
      body: JSON.stringify(body),
    });
    expect(response.status).toBe(422);
    expect((await problem(response)).errors).toEqual([{ field: 'enabled', message: 'Choose true or false.' }]);
  });

  test('a rule is deleted once: the second time it is not there', async () => {
    const { id } = await add();
    expect((await call(deleteRule, { token, params: { id } })).status).toBe(204);
    expect(problemOf(await call(deleteRule, { token, params: { id } }))).toMatchObject({ status: 404, code: 'not_found' });
    expect((await call(setRuleEnabled, { token, params: { id }, body: { enabled: true } })).status).toBe(404);
    expect(replyOf(await call(listRules, { token })).map((rule) => rule.id)).not.toContain(id);
  });

  test('of several deletions at once one deletes', async () => {
    const { id } = await add();
    const answers = await Promise.all(Array.from({ length: 4 }, () => call(deleteRule, { token, params: { id } })));
    expect(answers.map(({ status }) => status).sort()).toEqual([204, 404, 404, 404]);
  });

  test.each(['1', 'nothing', '../rules', '0', "' or 1=1", '01930000-0000-4000-8000-000000000001', SOMEBODYS_ID])(
    'the id %j names nothing',
    async (id) => {
      expect(problemOf(await call(deleteRule, { token, params: { id } }))).toMatchObject({ status: 404, code: 'not_found' });
      expect((await call(setRuleEnabled, { token, params: { id }, body: { enabled: true } })).status).toBe(404);
    },
  );

  test('another person’s rules cannot be reached, by an administrator neither', async () => {
    const { id } = await add();
    const { token: other } = await signIn();
    expect((await call(setRuleEnabled, { token: other, params: { id }, body: { enabled: false } })).status).toBe(404);
    expect((await call(deleteRule, { token: other, params: { id } })).status).toBe(404);
    expect(replyOf(await call(listRules, { token: other }))).toEqual([]);
    const mine = replyOf(await call(listRules, { token })).find((rule) => rule.id === id);
    expect(mine?.enabled).toBe(true);
  });

  test('without a token nothing is answered', async () => {
    const { id } = await add();
    const answers = [
      await call(listRules),
      await call(addRule, { body: NEW }),
      await call(setRuleEnabled, { params: { id }, body: { enabled: false } }),
      await call(deleteRule, { params: { id } }),
    ];
    for (const answer of answers) expect(problemOf(answer)).toMatchObject({ status: 401, code: 'unauthenticated' });
  });
});

describe('the list of rules', async () => {
  const { call, signIn } = await startTestApp();

  test('is empty at first, newest first then, and the Link header leads to the next page', async () => {
    const { token } = await signIn();
    expect(replyOf(await call(listRules, { token }))).toEqual([]);
    for (const rule_name of ['one', 'two', 'three']) await call(addRule, { token, body: { ...NEW, rule_name } });
    const page = await call(listRules, { token, query: '?limit=2' });
    expect(replyOf(page).map((rule) => rule.rule_name)).toEqual(['three', 'two']);
    const next = /<\/api\/firewall\/rules(.*)>; rel="next"/u.exec(page.headers.get('link') ?? '')?.[1];
    const last = await call(listRules, { token, query: next ?? '' });
    expect(replyOf(last).map((rule) => rule.rule_name)).toEqual(['one']);
    expect(last.headers.get('link')).toBeNull();
    expect((await call(listRules, { token, query: '?limit=501' })).status).toBe(422);
  });

  test('holds no more than fit, however many come at once', async () => {
    const { token } = await signIn();
    const addMany = async (count: number) =>
      await Promise.all(Array.from({ length: count }, () => call(addRule, { token, body: NEW })));
    replyOf(await call(importRules, { token, body: { rules: Array.from({ length: RULES_MAXIMUM - 2 }, () => NEW) } }));
    const answers = await addMany(6);
    expect(answers.map(({ status }) => status).sort()).toEqual([201, 201, 409, 409, 409, 409]);
    const refused = answers.find((answer) => !answer.ok);
    expect(refused && problemOf(refused)).toMatchObject({
      code: 'rule_limit',
      detail: 'You have 1000 rules, the maximum. Delete one to add another.',
    });
    const page = await call(listRules, { token, query: '?limit=1' });
    expect(page.headers.get(TOTAL_HEADER)).toBe(String(RULES_MAXIMUM));

    const id = replyOf(page)[0]?.id ?? '';
    await Promise.all([1, 2].map(() => call(deleteRule, { token, params: { id } })));
    expect((await addMany(2)).map(({ status }) => status).sort()).toEqual([201, 409]);
  });
});

describe('a change of the rules', async () => {
  const { call, signIn, app } = await startTestApp();
  const names = async (token: string) => replyOf(await call(listRules, { token })).map(({ rule_name }) => rule_name);
  const revisions = async (token: string) => replyOf(await call(listRevisions, { token }));
  const undo = async (token: string, id = '') => await call(undoRevision, { token, params: { id } });

  test('is edited in place: its fields, not its switch, nor its time', async () => {
    const { token } = await signIn();
    const rule = replyOf(await call(addRule, { token, body: NEW }));
    replyOf(await call(setRuleEnabled, { token, params: { id: rule.id }, body: { enabled: false } }));
    const terms = { ...NEW, rule_name: 'Printer', port: '631', protocol: 'all', action: 'block' } as const;
    const edited = replyOf(await call(editRule, { token, params: { id: rule.id }, body: terms }));
    expect(edited).toEqual({ ...rule, ...terms, enabled: false });
    expect(replyOf(await call(listRules, { token }))).toEqual([edited]);
    const refused = problemOf(await call(editRule, { token, params: { id: rule.id }, body: { ...terms, port: '0' } }));
    expect(refused).toMatchObject({ status: 422, errors: [{ field: 'port' }] });
    const { token: other } = await signIn();
    expect((await call(editRule, { token: other, params: { id: rule.id }, body: terms })).status).toBe(404);
  });

  test('is a revision each with a description, and a change without effect is none', async () => {
    const { token } = await signIn();
    expect(await revisions(token)).toEqual([]);
    const { id } = replyOf(await call(addRule, { token, body: NEW }));
    const params = { id };
    for (const enabled of [false, false, true]) await call(setRuleEnabled, { token, params, body: { enabled } });
    for (const rule_name of ['Web server', 'Shop']) await call(editRule, { token, params, body: { ...NEW, rule_name } });
    await call(deleteRule, { token, params });
    expect(
      (await revisions(token)).map(({ rev, kind, rule_name, added, changed, removed }) => [
        rev,
        kind,
        rule_name,
        added,
        changed,
        removed,
      ]),
    ).toEqual([
      [5, 'deleted', 'Shop', 0, 0, 1],
      [4, 'edited', 'Shop', 0, 1, 0],
      [3, 'enabled', 'Web server', 0, 1, 0],
      [2, 'disabled', 'Web server', 0, 1, 0],
      [1, 'added', 'Web server', 1, 0, 0],
    ]);
    const { token: other } = await signIn();
    expect(await revisions(other)).toEqual([]);
    expect((await undo(other, (await revisions(token))[0]?.id)).status).toBe(404);
  });

  test('is taken back, and so is what took it back', async () => {
    const { token } = await signIn();
    const kept = replyOf(await call(addRule, { token, body: { ...NEW, rule_name: 'kept' } }));
    await call(addRule, { token, body: { ...NEW, rule_name: 'other' } });
    await call(deleteRule, { token, params: { id: kept.id } });
    expect(await names(token)).toEqual(['other']);
    const [deletion] = await revisions(token);
    const undone = replyOf(await undo(token, deletion?.id));
    expect(undone).toMatchObject({ kind: 'undone', rule_name: 'kept', added: 1, changed: 0, removed: 0 });
    // It is the same rule, at its place.
    expect(replyOf(await call(listRules, { token })).at(-1)).toEqual(kept);
    replyOf(await undo(token, undone.id));
    expect(await names(token)).toEqual(['other']);
    // Everything since the first addition.
    replyOf(await undo(token, (await revisions(token)).at(-1)?.id));
    expect(await names(token)).toEqual([]);
    expect(problemOf(await undo(token, (await revisions(token)).at(-1)?.id))).toMatchObject({ code: 'conflict' });
  });

  test('of several at once is one after the other, and all of them can be taken back', async () => {
    const { token } = await signIn();
    const { id } = replyOf(await call(addRule, { token, body: NEW }));
    await Promise.all([
      ...Array.from({ length: 6 }, (_, index) => call(addRule, { token, body: { ...NEW, rule_name: `rule ${index}` } })),
      call(setRuleEnabled, { token, params: { id }, body: { enabled: false } }),
      call(deleteRule, { token, params: { id } }),
    ]);
    const made = await revisions(token);
    expect(made.map(({ rev }) => rev)).toEqual(Array.from({ length: made.length }, (_, index) => made.length - index));
    replyOf(await undo(token, made.find(({ rev }) => rev === 2)?.id));
    expect(replyOf(await call(listRules, { token }))).toEqual([expect.objectContaining({ id, enabled: true })]);
  });

  test('is kept a hundred times; an older one cannot be undone', async () => {
    const { token } = await signIn();
    const { id } = replyOf(await call(addRule, { token, body: NEW }));
    const [first] = await revisions(token);
    replyOf(await call(editRule, { token, params: { id }, body: { ...NEW, rule_name: 'Renamed' } }));
    for (let index = 1; index < REVISIONS_KEPT; index += 1)
      replyOf(await call(setRuleEnabled, { token, params: { id }, body: { enabled: index % 2 === 0 } }));
    const page = await call(listRevisions, { token, query: '?limit=60' });
    const next = /<\/api\/firewall\/revisions(.*)>; rel="next"/u.exec(page.headers.get('link') ?? '')?.[1];
    const kept = [...replyOf(page), ...replyOf(await call(listRevisions, { token, query: next ?? '' }))];
    expect(kept.map(({ rev }) => rev)).toEqual(Array.from({ length: REVISIONS_KEPT }, (_, index) => REVISIONS_KEPT + 1 - index));
    expect((await undo(token, first?.id)).status).toBe(404);
    replyOf(await undo(token, kept.at(-1)?.id));
    expect(replyOf(await call(listRules, { token }))[0]).toMatchObject({ rule_name: 'Web server', enabled: true });
  });

  test('of several rules is one, undone as one, and leaves other people’s rules alone', async () => {
    const { token } = await signIn();
    const other = await signIn();
    const added = async (as: string, rule_name: string) =>
      replyOf(await call(addRule, { token: as, body: { ...NEW, rule_name } })).id;
    const [one, two, three] = [await added(token, 'one'), await added(token, 'two'), await added(token, 'three')];
    const foreign = await added(other.token, 'foreign');
    const changed = async (change: 'enable' | 'disable' | 'delete', ...rule_ids: string[]) =>
      replyOf(await call(changeRules, { token, body: { rule_ids, change } })).changed;

    expect(await changed('disable', one, two, foreign)).toBe(2);
    // The second time changes no rule, so there is no revision to undo.
    expect(await changed('disable', one, two)).toBe(0);
    expect((await revisions(token))[0]).toMatchObject({ kind: 'disabled', rule_name: null, changed: 2 });
    expect(await changed('delete', one, three, SOMEBODYS_ID, foreign)).toBe(2);
    expect(await names(token)).toEqual(['two']);
    const [deleted] = await revisions(token);
    expect(deleted).toMatchObject({ kind: 'deleted', removed: 2 });
    replyOf(await undo(token, deleted?.id));
    expect(await names(token)).toEqual(['three', 'two', 'one']);
    expect(replyOf(await call(listRules, { token })).map(({ enabled }) => enabled)).toEqual([true, false, false]);
    expect(await changed('enable', one, two, three)).toBe(2);
    expect(await names(other.token)).toEqual(['foreign']);
    expect(replyOf(await call(listRules, { token: other.token }))[0]).toMatchObject({ enabled: true });
    expect(problemOf(await call(changeRules, { token, body: { rule_ids: [], change: 'delete' } })).status).toBe(422);
  });

  test('by a file is all of it or nothing', async () => {
    const { token } = await signIn();
    await call(addRule, { token, body: { ...NEW, rule_name: 'before' } });
    const rules = [NEW, { ...NEW, rule_name: 'SSH', port: '22', enabled: false }];
    expect(replyOf(await call(importRules, { token, body: { rules } }))).toEqual({ added: 2, removed: 0 });
    const [newest, second] = replyOf(await call(listRules, { token }));
    expect([newest, second]).toMatchObject([
      { ...NEW, enabled: true },
      { rule_name: 'SSH', enabled: false },
    ]);
    const bad = problemOf(await call(importRules, { token, body: { rules: [NEW, { ...NEW, port: '99999' }] } }));
    expect(bad).toMatchObject({
      status: 422,
      errors: [{ field: 'rules.1.port', message: 'A port is a whole number from 1 to 65535: 99999' }],
    });
    const many = Array.from({ length: RULES_MAXIMUM - 1 }, () => NEW);
    const full = problemOf(await call(importRules, { token, body: { rules: many } }));
    expect(full).toMatchObject({
      code: 'rule_limit',
      detail: 'You have 3 of 1000 rules, so 999 more don’t fit. Delete some first.',
    });
    expect(await names(token)).toEqual(['Web server', 'SSH', 'before']);
    expect(replyOf(await call(importRules, { token, body: { rules: many, replace: true } }))).toEqual({ added: 999, removed: 3 });
    const [imported] = await revisions(token);
    expect(imported).toMatchObject({ kind: 'imported', rule_name: null, added: 999, removed: 3 });
    replyOf(await undo(token, imported?.id));
    expect(await names(token)).toEqual(['Web server', 'SSH', 'before']);
  });

  test('by a file of no rule, of too many, or of another kind is refused with a sentence', async () => {
    expect(ruleFileSchema.safeParse({ palisade_rules: 1, rules: [] }).error?.issues[0]?.message).toBe('This file has no rules.');
    expect(ruleFileSchema.safeParse({ rules: [NEW] }).error?.issues[0]?.message).toBe(
      'This isn’t a Palisade rules file. Choose a file exported from Palisade.',
    );
    const many = Array.from({ length: RULES_MAXIMUM + 1 }, () => NEW);
    const { token } = await signIn();
    expect(problemOf(await call(importRules, { token, body: { rules: many } })).detail).toContain(
      'A file can have at most 1000 rules.',
    );
    expect(await revisions(token)).toEqual([]);
  });

  test('names the devices that a rule is for, each once', async () => {
    const { token } = await signIn();
    const device_ids = [SOMEBODYS_ID, '01930000-0000-7000-8000-000000000000', SOMEBODYS_ID];
    const rule = replyOf(await call(addRule, { token, body: { ...NEW, device_ids } }));
    expect(rule.device_ids).toEqual(['01930000-0000-7000-8000-000000000000', SOMEBODYS_ID]);
    expect(replyOf(await call(editRule, { token, params: { id: rule.id }, body: NEW })).device_ids).toEqual(rule.device_ids);
    expect(
      replyOf(await call(editRule, { token, params: { id: rule.id }, body: { ...NEW, device_ids: [] } })).device_ids,
    ).toEqual([]);
  });

  test('a person’s revisions go with their account', async () => {
    const { token, email } = await signIn();
    await call(addRule, { token, body: NEW });
    const { id } = await app.database.selectFrom('users').select('id').where('email', '=', email).executeTakeFirstOrThrow();
    await app.database.deleteFrom('users').where('id', '=', id).execute();
    expect(await app.database.selectFrom('firewall_revisions').select('id').where('user_id', '=', id).execute()).toEqual([]);
  });
});

describe('a temporary rule', async () => {
  let time = Date.now();
  const { call, signIn, url } = await startTestApp({ surroundings: { now: () => time, every_ms: { 'rule-expiry': 20 } } });

  test('is off when its time is over, which is a revision; switched on again it lasts', async () => {
    const { token } = await signIn();
    const rule = replyOf(await call(addRule, { token, body: { ...NEW, lasts: 'hour' } }));
    expect(rule).toMatchObject({ enabled: true, expires_at: new Date(time + 3_600_000).toISOString() });
    await call(addRule, { token, body: { ...NEW, lasts: 'day', rule_name: '1 day' } });
    time += 3_600_000;
    // At once, whenever the job comes.
    const [day, hour] = replyOf(await call(listRules, { token }));
    expect([day?.enabled, hour?.enabled]).toEqual([true, false]);
    await vi.waitFor(async () =>
      expect(replyOf(await call(listRevisions, { token }))[0]).toMatchObject({ kind: 'expired', rule_name: 'Web server' }),
    );
    const again = replyOf(await call(setRuleEnabled, { token, params: { id: rule.id }, body: { enabled: true } }));
    expect(again).toMatchObject({ enabled: true, expires_at: null });
    expect(replyOf(await call(editRule, { token, params: { id: rule.id }, body: { ...NEW, lasts: 'day' } })).expires_at).toBe(
      new Date(time + 86_400_000).toISOString(),
    );
    expect(
      replyOf(await call(editRule, { token, params: { id: rule.id }, body: { ...NEW, lasts: null } })).expires_at,
    ).toBeNull();
    const refused = await fetch(`${url}/api/firewall/rules`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', authorization: `Bearer ${token}` },
      body: JSON.stringify({ ...NEW, lasts: 'week' }),
    });
    expect(await refused.json()).toMatchObject({ errors: [{ field: 'lasts', message: 'Choose an hour or a day.' }] });
  });
});
