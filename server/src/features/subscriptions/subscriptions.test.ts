import { currentSubscription } from '@palisade/contract/current-subscription';
import {
  type Assignment,
  assignSubscription,
  cancelSubscription,
  changeTemplate,
  createTemplate,
  declinePlanRequest,
  deleteTemplate,
  listAllPlanRequests,
  listPlanRequests,
  listPlans,
  listSubscriptions,
  listTemplates,
  type NewTemplate,
  requestPlan,
  withdrawPlanRequest,
} from '@palisade/contract/subscription';
import { describe, expect, test } from 'vitest';
import {
  addPerson,
  auditKindsOf,
  featureAccounts,
  featureAudit,
  featureDatabase,
  heldMail,
  ORIGIN,
  outcomes,
} from '#test/feature-database.ts';
import { problemOf, replyOf, startTestApp } from '#test/harness.ts';
import { deviceLimit } from './device-limit.ts';
import { createPlanRequests } from './plan-requests.ts';
import { createSubscriptions } from './subscriptions.ts';

const UNKNOWN_ID = '01930000-0000-7000-8000-000000000000';
const PAGE = { limit: 100 };
const REST = {
  duration_months: 12,
  max_devices: 5,
  is_premium: true,
  features: ['Anti-hacking monitor', 'Five devices'],
} as const;
const TEMPLATE: NewTemplate = { template_name: 'Family Shield', base_price: 19.99, ...REST, features: [...REST.features] };
const PLAN = { plan_name: 'Family Shield', price: 19.99, ...REST, features: [...REST.features] };
const START = '2026-01-31T10:00:00.000Z';

const database = await featureDatabase();
const clock = { now: Date.parse(START) };
const now = () => clock.now;
const mail = heldMail();
const told: string[] = [];
const parts = {
  ...{ database, mail, now, public_url: 'https://guard.example', accounts: featureAccounts(database) },
  ...{ audit: featureAudit(now), onChange: (user_id: string) => told.push(user_id) },
};
const subscriptions = createSubscriptions(parts);
const requests = createPlanRequests(parts);
const BY = { actor_id: await addPerson(database, { role: 'admin' }), origin: ORIGIN };

async function start() {
  const id = await addPerson(database);
  return { id, email: `${id}@example.com` };
}
type Person = Awaited<ReturnType<typeof start>>;
const assign = ({ email }: Pick<Person, 'email'>, change: Partial<Assignment> = {}) =>
  subscriptions.assign({ user_email: email, ...PLAN, ...change }, BY);
const template = (change: Partial<NewTemplate> = {}) =>
  subscriptions.createTemplate({ ...TEMPLATE, template_name: `Plan ${Math.random()}`, ...change });
const statusesOf = async ({ email }: Person) =>
  (await subscriptions.list(PAGE)).filter(({ user_email }) => user_email === email).map(({ status }) => status);

describe('assigning', () => {
  test('answers the record, and the person has it at once, with a letter and an audit entry', async () => {
    const person = await start();
    expect(await subscriptions.current(person.id)).toEqual({
      ...{ has_subscription: false, is_premium: false, features: [], plan_name: null, expires_at: null },
      ...{ price: null, currency: null, max_devices: null, max_web_devices: null, max_profiles: null, duration_months: null },
    });
    expect(await deviceLimit(database, person.id, clock.now)).toBe(1);
    const subscription = await assign(person, { features: ['a', 'a', 'b'] });
    const kept = { currency: 'USD', max_web_devices: 10, max_profiles: 5, features: ['a', 'b'] };
    const ends = { expires_at: '2027-01-31T10:00:00.000Z', ...kept };
    expect(subscription).toMatchObject({ user_email: person.email, ...PLAN, ...ends, status: 'active', starts_at: START });
    expect(await subscriptions.current(person.id)).toEqual({ has_subscription: true, ...PLAN, ...ends });
    expect(await deviceLimit(database, person.id, clock.now)).toBe(5);
    expect(await auditKindsOf(database, person.id)).toEqual(['subscription_assigned']);
    expect(told).toContain(person.id);
    const [letter] = mail.letters.filter(({ recipient }) => recipient === person.email);
    expect(letter?.subject).toBe('You have a new plan');
    const text = letter?.lines.join('\n');
    expect(text).toContain('“Family Shield”');
    expect(text).toContain(
      'Devices: 5\nDevices with web protection: 10\nProfiles for people at home: 5\nAnti-Hacking tools: included\nEnds: 31 January 2027 (',
    );
    expect(text).toContain('\nhttps://guard.example/subscription-manager');
  });

  test('an unknown email is refused with a sentence, and writes no letter', async () => {
    await expect(assign({ email: 'nobody@example.com' })).rejects.toMatchObject({
      code: 'not_found',
      message: 'No account uses the email nobody@example.com. Check it, or ask the person to register first.',
    });
    expect(mail.to('nobody@example.com')).toEqual([]);
  });

  test('however many assign at once, one is active and the others are replaced', async () => {
    const person = await start();
    const names = Array.from({ length: 8 }, (_, index) => `Plan ${index}`);
    await Promise.all(names.map((plan_name) => assign(person, { plan_name })));
    const rows = (await subscriptions.list(PAGE)).filter(({ user_email }) => user_email === person.email);
    expect(rows.map(({ status }) => status).sort()).toEqual(['active', ...Array<string>(7).fill('replaced')]);
    const active = rows.find(({ status }) => status === 'active');
    expect((await subscriptions.current(person.id)).plan_name).toBe(active?.plan_name);
  });

  test('the same plan again extends the present end, and starts over only when asked', async () => {
    const person = await start();
    const endOf = async (change: Partial<Assignment>) => (await assign(person, { duration_months: 1, ...change })).expires_at;
    expect(await endOf({ duration_months: 12 })).toBe('2027-01-31T10:00:00.000Z');
    expect(await endOf({})).toBe('2027-02-28T10:00:00.000Z');
    // The devices of the plan may change with its renewal, and its name is the same in small letters.
    expect(await endOf({ plan_name: 'family shield', max_devices: 10 })).toBe('2027-03-28T10:00:00.000Z');
    expect(await subscriptions.current(person.id)).toMatchObject({ max_devices: 10, expires_at: '2027-03-28T10:00:00.000Z' });
    expect(await endOf({ starts_over: true })).toBe('2026-02-28T10:00:00.000Z');
    expect(await endOf({ plan_name: 'Another plan' })).toBe('2026-02-28T10:00:00.000Z');
    await database.updateTable('subscriptions').set({ expires_at: null }).where('user_id', '=', person.id).execute();
    expect(await endOf({ plan_name: 'Another plan' })).toBeNull();
    expect(await endOf({ plan_name: 'Another plan', starts_over: true })).toBe('2026-02-28T10:00:00.000Z');
    await database.updateTable('subscriptions').set({ expires_at: START }).where('user_id', '=', person.id).execute();
    expect(await endOf({ plan_name: 'Another plan', duration_months: 12 })).toBe('2027-01-31T10:00:00.000Z');
  });

  test('premium ends in the very millisecond of the expiry, and the plan stays expired', async () => {
    const person = await start();
    const began = clock.now;
    const { id, expires_at } = await assign(person, { duration_months: 1 });
    expect(expires_at).toBe('2026-02-28T10:00:00.000Z');
    clock.now = Date.parse(expires_at ?? '') - 1;
    expect(await subscriptions.countEnding()).toBe(1);
    clock.now -= 27 * 86_400_000;
    expect(await subscriptions.countEnding()).toBe(1);
    clock.now += 27 * 86_400_000;
    expect((await subscriptions.current(person.id)).is_premium).toBe(true);
    clock.now += 1;
    expect(await subscriptions.countEnding()).toBe(0);
    expect(await subscriptions.current(person.id)).toMatchObject({ is_premium: false, has_subscription: false });
    expect(await deviceLimit(database, person.id, clock.now)).toBe(1);
    expect(await statusesOf(person)).toEqual(['expired']);
    await expect(subscriptions.cancel(id, BY)).rejects.toMatchObject({ code: 'not_found' });
    await assign(person);
    expect(await statusesOf(person)).toEqual(['active', 'expired']);
    clock.now = began;
  });

  test('a cancelled one is over at once, and cannot be cancelled twice', async () => {
    const person = await start();
    const { id } = await assign(person);
    expect(await outcomes([subscriptions.cancel(id, BY), subscriptions.cancel(id, BY)])).toEqual(['fulfilled', 'not_found']);
    expect((await subscriptions.current(person.id)).has_subscription).toBe(false);
    expect(await statusesOf(person)).toEqual(['cancelled']);
    expect(await auditKindsOf(database, person.id)).toEqual(['subscription_assigned', 'subscription_cancelled']);
    await expect(subscriptions.cancel(UNKNOWN_ID, BY)).rejects.toMatchObject({ code: 'not_found' });
    await assign(person);
    expect((await subscriptions.current(person.id)).is_premium).toBe(true);
  });

  test('the list has pages, newest first', async () => {
    const all = await subscriptions.list(PAGE);
    expect(all.map(({ id }) => id)).toEqual(
      all
        .map(({ id }) => id)
        .sort()
        .reverse(),
    );
    expect(await subscriptions.list({ limit: 2, cursor: all[1]?.id })).toEqual(all.slice(2, 4));
  });
});

describe('templates', () => {
  test('have their fields, the newest first, and are changed in place', async () => {
    const made = await subscriptions.createTemplate(TEMPLATE);
    expect(made).toMatchObject({ ...TEMPLATE, currency: 'USD' });
    const solo = await template({ base_price: 0, duration_months: 1 });
    expect(await subscriptions.listTemplates(PAGE)).toEqual([solo, made]);
    expect(await subscriptions.listTemplates({ limit: 1, cursor: solo.id })).toEqual([made]);
    const change = { ...TEMPLATE, template_name: 'After', base_price: 5, features: ['New'] };
    expect(await subscriptions.changeTemplate({ ...change, template_id: made.id })).toEqual({ ...made, ...change });
    await expect(subscriptions.changeTemplate({ ...change, template_id: UNKNOWN_ID })).rejects.toMatchObject({
      code: 'not_found',
    });
  });

  test('a name is taken once, in any case, also by a change and by several at once', async () => {
    await template({ template_name: 'Taken' });
    const { id } = await template();
    await expect(template({ template_name: 'TAKEN' })).rejects.toMatchObject({
      code: 'conflict',
      message: 'A template named “TAKEN” already exists. Choose another name.',
    });
    const change = { ...TEMPLATE, template_name: 'taken', template_id: id };
    await expect(subscriptions.changeTemplate(change)).rejects.toMatchObject({ code: 'conflict' });
    const race = [1, 2, 3].map(() => template({ template_name: 'Race' }));
    expect(await outcomes(race)).toEqual(['conflict', 'conflict', 'fulfilled']);
  });
});

describe('plan requests', () => {
  test('reach the administrators with the name of the person, and the person alone', async () => {
    const [person, plan] = [await start(), await template()];
    const request = await requests.open(person.id, plan.id);
    expect(request).toMatchObject({ template: plan, status: 'open', decided_at: null });
    const open = await requests.listOpen(PAGE);
    expect(open).toMatchObject([
      { id: request.id, template: plan, user_email: person.email, user_username: `person-${person.id}` },
    ]);
    expect(await requests.countOpen()).toBe(1);
    expect(await requests.list(person.id, PAGE)).toMatchObject([{ id: request.id, template: plan }]);
    expect(await requests.list(person.id, { ...PAGE, cursor: request.id })).toEqual([]);
    expect(await requests.listOpen({ ...PAGE, cursor: request.id })).toEqual([]);
    expect(await requests.list((await start()).id, PAGE)).toEqual([]);
    await expect(requests.open(person.id, UNKNOWN_ID)).rejects.toMatchObject({ code: 'not_found' });
  });

  test('tell how long the last answers took, once there are some', async () => {
    await database.deleteFrom('subscription_requests').execute();
    expect(await requests.answerTime()).toEqual({ answered: 0, median_s: null });
    const began = clock.now;
    for (const hours of [1, 5, 24]) {
      const [person, plan] = [await start(), await template()];
      const { id } = await requests.open(person.id, plan.id);
      clock.now += hours * 3_600_000;
      await requests.close(id, 'declined');
    }
    clock.now = began;
    expect(await requests.answerTime()).toEqual({ answered: 3, median_s: 5 * 3_600 });
    const withdrawn = await requests.open((await start()).id, (await template()).id);
    await requests.close(withdrawn.id, 'withdrawn');
    expect(await requests.answerTime()).toMatchObject({ answered: 3 });
  });

  test('stand beside the present subscription until they are withdrawn, or it is premium', async () => {
    const person = await start();
    const current = () => subscriptions.current(person.id);
    expect(await current()).not.toHaveProperty('requested_at');
    const { id, requested_at } = await requests.open(person.id, (await template()).id);
    expect(await current()).toMatchObject({ has_subscription: false, requested_at });
    await assign(person, { is_premium: false });
    expect(await current()).toMatchObject({ has_subscription: true, requested_at });
    await requests.close(id, 'withdrawn');
    expect(await current()).not.toHaveProperty('requested_at');
    await requests.open(person.id, (await template()).id);
    await assign(person);
    expect(await current()).not.toHaveProperty('requested_at');
  });

  test('of several at once for one plan one is open', async () => {
    const [person, plan] = [await start(), await template()];
    const calls = [1, 2, 3].map(() => requests.open(person.id, plan.id));
    expect(await outcomes(calls)).toEqual(['conflict', 'conflict', 'fulfilled']);
    expect(await outcomes([requests.open(person.id, (await template()).id)])).toEqual(['fulfilled']);
  });

  test('are granted by an assignment to their person alone, with a letter that says so', async () => {
    const [person, stranger, plan] = [await start(), await start(), await template()];
    const { id } = await requests.open(person.id, plan.id);
    await assign(stranger, { request_id: id });
    expect((await requests.find(id))?.status).toBe('open');
    await assign(person, { request_id: id, is_premium: false, max_devices: 1, max_profiles: 999, duration_months: 1 });
    expect((await requests.find(id))?.status).toBe('granted');
    const letter = mail.letters.findLast(({ recipient }) => recipient === person.email);
    expect(letter?.subject).toBe('Your requested plan is active');
    expect(letter?.lines.join('\n')).toContain(
      'Devices: 1\nDevices with web protection: 10\nProfiles for people at home: Unlimited\nEnds: 28 February 2026 (',
    );
    expect(mail.to(stranger.email)).toEqual(['You have a new plan']);
    // It may be asked for again.
    await requests.open(person.id, plan.id);
  });

  test('are closed once, with a letter for a declined one alone', async () => {
    const [person, plan] = [await start(), await template({ template_name: 'Declined' })];
    const { id } = await requests.open(person.id, plan.id);
    expect(await outcomes([requests.close(id, 'declined'), requests.close(id, 'declined')])).toEqual(['fulfilled', 'not_found']);
    const again = await requests.open(person.id, plan.id);
    await requests.close(again.id, 'withdrawn');
    const letters = mail.letters.filter(({ recipient }) => recipient === person.email);
    expect(letters.map(({ subject }) => subject)).toEqual(['Your plan request was declined']);
    expect(letters[0]?.lines).toContain('An administrator declined your request for the plan “Declined”.');
    expect(letters[0]?.lines).toContain('https://guard.example/subscription-manager');
  });

  test('keep a plan on offer while they are open; its owners keep a removed one', async () => {
    const [person, plan] = [await start(), await template({ template_name: 'Mistyped' })];
    const { id } = await requests.open(person.id, plan.id);
    await expect(subscriptions.deleteTemplate(plan.id)).rejects.toMatchObject({
      code: 'conflict',
      message: '“Mistyped” has an open request. Answer it first in Manage Subscriptions.',
    });
    await assign(person, { plan_name: 'Mistyped', request_id: id });
    await subscriptions.deleteTemplate(plan.id);
    expect((await subscriptions.listTemplates(PAGE)).map((one) => one.id)).not.toContain(plan.id);
    expect(await subscriptions.current(person.id)).toMatchObject({ plan_name: 'Mistyped' });
    await expect(subscriptions.deleteTemplate(plan.id)).rejects.toMatchObject({ code: 'not_found' });
    // Its name is free again.
    await template({ template_name: 'Mistyped' });
  });
});

test('the routes offer, ask, assign, decline, withdraw and cancel', async () => {
  const { call, signIn } = await startTestApp();
  const [{ token: admin }, { token, email }] = [await signIn('boss'), await signIn('maria')];
  const { template: plan } = replyOf(await call(createTemplate, { token: admin, body: TEMPLATE }));
  const template_id = plan.id;
  expect(replyOf(await call(listPlans, { token }))).toEqual([plan]);
  const changed = { ...TEMPLATE, template_name: 'After', template_id };
  expect(replyOf(await call(changeTemplate, { token: admin, body: changed })).template.template_name).toBe('After');
  const ask = async () => replyOf(await call(requestPlan, { token, body: { template_id } }));
  const first = await ask();
  expect(replyOf(await call(listPlanRequests, { token }))).toEqual([first]);
  expect((await call(withdrawPlanRequest, { token, params: { id: first.id } })).status).toBe(204);
  replyOf(await call(declinePlanRequest, { token: admin, body: { request_id: (await ask()).id } }));
  await ask();
  const [open] = replyOf(await call(listAllPlanRequests, { token: admin }));
  const assigned = await call(assignSubscription, {
    token: admin,
    body: { ...PLAN, user_email: ` ${email.toUpperCase()} `, request_id: open?.id },
  });
  const { subscription } = replyOf(assigned);
  replyOf(await call(assignSubscription, { token: admin, body: { ...PLAN, user_email: email } }));
  const page = await call(listSubscriptions, { token: admin, query: '?limit=1' });
  const next = /<[^?]+(\?[^>]+)>; rel="next"/u.exec(page.headers.get('link') ?? '')?.[1];
  expect(replyOf(await call(listSubscriptions, { token: admin, query: next ?? '' }))).toEqual([
    { ...subscription, status: 'replaced' },
  ]);
  const [active] = replyOf(page);
  replyOf(await call(cancelSubscription, { token: admin, body: { subscription_id: active?.id ?? '' } }));
  expect(replyOf(await call(currentSubscription, { token })).has_subscription).toBe(false);
  replyOf(await call(deleteTemplate, { token: admin, body: { template_id } }));
  expect(replyOf(await call(listTemplates, { token: admin }))).toEqual([]);
  expect(problemOf(await call(requestPlan, { token, body: { template_id } })).status).toBe(404);
});
