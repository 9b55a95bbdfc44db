import { login } from '@palisade/contract/auth';
import { currentSubscription } from '@palisade/contract/current-subscription';
import type { Endpoint } from '@palisade/contract/endpoint';
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
import { type Answer, problemOf, replyOf, startTestApp } from '#test/harness.ts';

const NOWHERE = '01930000-0000-7000-8000-000000000000';
const HOSTILE = `'; drop table subscriptions; -- <script>alert(1)</script> "quoted" \u{1f600}`;

const TEMPLATE = {
  template_name: 'Family Shield',
  base_price: 19.99,
  duration_months: 12,
  max_devices: 5,
  is_premium: true,
  features: ['Anti-hacking monitor', 'Five devices'],
} satisfies NewTemplate;

const PLAN = {
  plan_name: 'Family Shield',
  price: 19.99,
  duration_months: 12,
  max_devices: 5,
  is_premium: true,
  features: ['Anti-hacking monitor', 'Five devices'],
} satisfies Omit<Assignment, 'user_email'>;

/** An installation with an admin (the first account), a customer, and a clock that the test turns. */
async function start(environment: Record<string, string> = {}) {
  const clock = { now: Date.parse('2026-01-31T10:00:00.000Z') };
  const app = await startTestApp({ environment, surroundings: { now: () => clock.now } });
  const admin = await app.signIn('boss');
  const customer = await app.signIn('maria');
  const signInAgain = async ({ email, password }: { email: string; password: string }) =>
    replyOf(await app.call(login, { body: { email, password } })).access_token;
  return { ...app, clock, admin, customer, signInAgain };
}

describe('who may', async () => {
  const { call, url, customer } = await start();

  const endpoints: [string, Endpoint][] = [
    listSubscriptions,
    assignSubscription,
    cancelSubscription,
    listTemplates,
    createTemplate,
    deleteTemplate,
    listAllPlanRequests,
    declinePlanRequest,
    currentSubscription,
    listPlans,
    listPlanRequests,
    requestPlan,
    withdrawPlanRequest,
  ].map((endpoint) => [`${endpoint.method} ${endpoint.path}`, endpoint]);
  const send = (endpoint: Endpoint, token?: string) =>
    fetch(`${url}/api${endpoint.path.replace('{id}', NOWHERE)}`, {
      method: endpoint.method,
      headers: {
        ...(token === undefined ? {} : { authorization: `Bearer ${token}` }),
        ...(endpoint.body === undefined ? {} : { 'content-type': 'application/json' }),
      },
      ...(endpoint.body === undefined ? {} : { body: '{}' }),
    });

  test.each(endpoints)('%s takes a token', async (_, endpoint) => {
    expect((await send(endpoint)).status).toBe(401);
    expect((await send(endpoint, 'wrong')).status).toBe(401);
  });

  test.each(endpoints.filter(([, { path }]) => path.startsWith('/admin/')))('%s is for admins alone', async (_, endpoint) => {
    expect(endpoint.access).toBe('admin');
    expect((await send(endpoint, customer.token)).status).toBe(403);
  });

  test('every path below /admin/ declares its own access', () => {
    for (const [, { path, access }] of endpoints) expect(access).toBe(path.startsWith('/admin/') ? 'admin' : 'customer');
  });

  test('without a subscription nothing is premium', async () => {
    expect(replyOf(await call(currentSubscription, { token: customer.token }))).toEqual({
      has_subscription: false,
      plan_name: null,
      is_premium: false,
      expires_at: null,
      price: null,
      currency: null,
      features: [],
      max_devices: null,
      duration_months: null,
    });
  });
});

describe('assigning', async () => {
  const { call, url, clock, admin, customer, signIn, signInAgain } = await start();
  const assign = (change: Record<string, unknown> = {}) =>
    call(assignSubscription, { token: admin.token, body: { user_email: customer.email, ...PLAN, ...change } });

  test('answers the record, and the person has it at once', async () => {
    const { success, subscription } = replyOf(await assign());
    expect(success).toBe(true);
    expect(subscription).toMatchObject({
      user_email: customer.email,
      user_username: 'maria',
      ...PLAN,
      currency: 'USD',
      status: 'active',
      starts_at: '2026-01-31T10:00:00.000Z',
      expires_at: '2027-01-31T10:00:00.000Z',
    });
    expect(replyOf(await call(currentSubscription, { token: customer.token }))).toEqual({
      has_subscription: true,
      ...PLAN,
      currency: 'USD',
      expires_at: '2027-01-31T10:00:00.000Z',
    });
  });

  test('finds the account for any case and space around the email', async () => {
    expect(replyOf(await assign({ user_email: '  MARIA@Example.COM ' })).subscription.user_email).toBe(customer.email);
  });

  test('an unknown email is 404 with a sentence', async () => {
    expect(problemOf(await assign({ user_email: 'nobody@example.com' }))).toMatchObject({
      status: 404,
      detail: 'No account uses the email nobody@example.com. Check it, or ask the person to register first.',
    });
  });

  test('a new one replaces the old one', async () => {
    const first = replyOf(await assign()).subscription;
    const second = replyOf(await assign({ plan_name: 'Solo', is_premium: false, price: 0.29 })).subscription;
    const rows = replyOf(await call(listSubscriptions, { token: admin.token }));
    expect(rows[0]).toEqual(second);
    expect(rows.find(({ id }) => id === first.id)?.status).toBe('replaced');
    expect(rows.filter(({ status }) => status === 'active')).toHaveLength(1);
    expect(replyOf(await call(currentSubscription, { token: customer.token }))).toMatchObject({ plan_name: 'Solo', price: 0.29 });
  });

  test('however many assign at once, one is active', async () => {
    const person = await signIn('contested');
    const names = Array.from({ length: 8 }, (_, index) => `Plan ${index}`);
    const answers = await Promise.all(names.map((plan_name) => assign({ user_email: person.email, plan_name })));
    for (const answer of answers) expect(replyOf(answer).success).toBe(true);
    const rows = replyOf(await call(listSubscriptions, { token: admin.token })).filter((row) => row.user_email === person.email);
    expect(rows).toHaveLength(names.length);
    expect(rows.filter(({ status }) => status === 'active')).toHaveLength(1);
    expect(rows.filter(({ status }) => status === 'replaced')).toHaveLength(names.length - 1);
    const active = rows.find(({ status }) => status === 'active');
    expect(replyOf(await call(currentSubscription, { token: person.token })).plan_name).toBe(active?.plan_name);
  });

  test('input is stored and answered as typed, without duplicates', async () => {
    const { subscription } = replyOf(
      await assign({
        plan_name: `  ${HOSTILE} `,
        features: [' a ', 'a', HOSTILE],
        role: 'admin',
        id: NOWHERE,
        status: 'expired',
      }),
    );
    expect(subscription).toMatchObject({ plan_name: HOSTILE, features: ['a', HOSTILE], status: 'active' });
    expect(subscription.id).not.toBe(NOWHERE);
    expect(subscription).not.toHaveProperty('role');
    expect(replyOf(await call(currentSubscription, { token: customer.token })).features).toEqual(['a', HOSTILE]);
  });

  test.each([
    ['user_email', 'no address'],
    ['user_email', 7],
    ['user_email', undefined],
    ['plan_name', '   '],
    ['plan_name', 'x'.repeat(101)],
    ['plan_name', 'a\u0000b'],
    ['plan_name', 'two\nlines'],
    ['plan_name', '\ud800'],
    ['plan_name', ['Solo']],
    ['price', '19.99'],
    ['price', -1],
    ['price', -0.01],
    ['price', 9.999],
    ['price', 1_000_000.01],
    ['price', null],
    ['duration_months', 7],
    ['duration_months', 0],
    ['duration_months', '12'],
    ['duration_months', 1.5],
    ['max_devices', 0],
    ['max_devices', 2],
    ['max_devices', '5'],
    ['is_premium', 'true'],
    ['is_premium', 1],
    ['features', 'one'],
    ['features', undefined],
    ['features.0', ['  ']],
    ['features.1', ['fine', 3]],
    ['features.0', ['x'.repeat(201)]],
    ['features', Array.from({ length: 51 }, (_, index) => `Feature ${index}`)],
    ['request_id', 'not an id'],
  ])('%s: %j is refused by name', async (field, value) => {
    const problem = problemOf(await assign({ [field.split('.')[0] ?? field]: value }));
    expect(problem.status).toBe(422);
    expect(problem.errors?.map((error) => error.field)).toContain(field);
  });

  test('a number beyond all numbers is refused, a field of 1 MB is too', async () => {
    const send = (body: string) =>
      fetch(`${url}/api/admin/assign-subscription`, {
        method: 'POST',
        headers: { authorization: `Bearer ${admin.token}`, 'content-type': 'application/json' },
        body,
      });
    const text = JSON.stringify({ user_email: customer.email, ...PLAN });
    expect((await send(text.replace('19.99', '1e309'))).status).toBe(422);
    expect((await send(text.replace('19.99', '-1e309'))).status).toBe(422);
    expect((await send(text.replace('Family Shield', 'x'.repeat(1_000_000)))).status).toBe(413);
    expect((await send('{"user_email":')).status).toBe(400);
  });

  test('premium ends in the very millisecond of the expiry', async () => {
    const { subscription } = replyOf(await assign({ duration_months: 1 }));
    expect(subscription.expires_at).toBe('2026-02-28T10:00:00.000Z');
    clock.now = Date.parse('2026-02-28T09:59:59.999Z');
    const token = await signInAgain(customer);
    expect(replyOf(await call(currentSubscription, { token })).is_premium).toBe(true);
    clock.now += 1;
    expect(replyOf(await call(currentSubscription, { token }))).toMatchObject({ is_premium: false, has_subscription: false });
    admin.token = await signInAgain(admin);
    const rows = replyOf(await call(listSubscriptions, { token: admin.token }));
    expect(rows.find(({ id }) => id === subscription.id)?.status).toBe('expired');
    expect(
      problemOf(await call(cancelSubscription, { token: admin.token, body: { subscription_id: subscription.id } })).status,
    ).toBe(404);
    // The expired one stays expired when a new one is assigned.
    replyOf(await assign());
    const later = replyOf(await call(listSubscriptions, { token: admin.token }));
    expect(later.find(({ id }) => id === subscription.id)?.status).toBe('expired');
  });

  test('a cancelled one is over at once, and cannot be cancelled twice', async () => {
    const { subscription } = replyOf(await assign());
    const body = { subscription_id: subscription.id };
    const both = await Promise.all([1, 2].map(() => call(cancelSubscription, { token: admin.token, body })));
    expect(both.map(({ status }) => status).sort()).toEqual([200, 404]);
    const token = await signInAgain(customer);
    expect(replyOf(await call(currentSubscription, { token })).has_subscription).toBe(false);
    const rows = replyOf(await call(listSubscriptions, { token: admin.token }));
    expect(rows.find(({ id }) => id === subscription.id)?.status).toBe('cancelled');
    const none = problemOf(await call(cancelSubscription, { token: admin.token, body: { subscription_id: NOWHERE } }));
    expect(none.status).toBe(404);
    replyOf(await assign());
    expect(replyOf(await call(currentSubscription, { token })).is_premium).toBe(true);
  });

  test('the Link header leads through the list, newest first', async () => {
    const ids: string[] = [];
    let query: string | undefined = '?limit=4';
    while (query !== undefined) {
      const answer: Answer<typeof listSubscriptions> = await call(listSubscriptions, { token: admin.token, query });
      ids.push(...replyOf(answer).map(({ id }) => id));
      query = /<[^?]+(\?[^>]+)>; rel="next"/u.exec(answer.headers.get('link') ?? '')?.[1];
    }
    const all = replyOf(await call(listSubscriptions, { token: admin.token })).map(({ id }) => id);
    expect(ids).toEqual(all);
    expect(all).toEqual([...all].sort().reverse());
    expect(problemOf(await call(listSubscriptions, { token: admin.token, query: '?limit=0' })).status).toBe(422);
  });
});

describe('templates', async () => {
  const { call, admin, customer } = await start();
  const create = (change: Record<string, unknown> = {}) =>
    call(createTemplate, { token: admin.token, body: { ...TEMPLATE, ...change } });

  test('one that is made is on offer to everybody, the newest first', async () => {
    const { success, template } = replyOf(await create());
    expect(success).toBe(true);
    expect(template).toMatchObject({ ...TEMPLATE, currency: 'USD' });
    const solo = replyOf(await create({ template_name: 'Solo', base_price: 0, duration_months: 1 })).template;
    expect(replyOf(await call(listTemplates, { token: admin.token }))).toEqual([solo, template]);
    expect(replyOf(await call(listPlans, { token: customer.token }))).toEqual([solo, template]);
  });

  test('a name is taken once, in any case', async () => {
    replyOf(await create({ template_name: 'Taken' }));
    expect(problemOf(await create({ template_name: ' TAKEN ' }))).toMatchObject({
      status: 409,
      code: 'conflict',
      detail: 'A template named “TAKEN” already exists. Choose another name.',
    });
    const { template } = replyOf(await create({ template_name: 'Before' }));
    const change = (body: Partial<NewTemplate>, template_id = template.id) =>
      call(changeTemplate, { token: admin.token, body: { ...TEMPLATE, ...body, template_id } });
    expect(replyOf(await change({ template_name: 'After', base_price: 5, features: ['New'] })).template).toEqual({
      ...template,
      ...{ template_name: 'After', base_price: 5, features: ['New'] },
    });
    expect(problemOf(await change({ template_name: 'taken' })).code).toBe('conflict');
    expect(problemOf(await change({}, NOWHERE)).code).toBe('not_found');
    const race = await Promise.all([1, 2, 3].map(() => create({ template_name: 'Race' })));
    expect(race.map(({ status }) => status).sort()).toEqual([200, 409, 409]);
  });

  test('hostile text is text', async () => {
    expect(replyOf(await create({ template_name: HOSTILE, features: [HOSTILE] })).template).toMatchObject({
      template_name: HOSTILE,
      features: [HOSTILE],
    });
  });

  test.each([
    ['template_name', ''],
    ['template_name', 'x'.repeat(101)],
    ['base_price', '1'],
    ['base_price', -1],
    ['base_price', 0.001],
    ['duration_months', 3],
    ['duration_months', '12'],
    ['max_devices', 4],
    ['is_premium', null],
    ['features', {}],
  ])('%s: %j is refused by name', async (field, value) => {
    const problem = problemOf(await create({ template_name: 'Bad', [field]: value }));
    expect(problem.status).toBe(422);
    expect(problem.errors?.map((error) => error.field)).toContain(field);
  });
});

describe('plan requests', async () => {
  const { call, admin, customer, signIn } = await start();
  const template = async (template_name: string) =>
    replyOf(await call(createTemplate, { token: admin.token, body: { ...TEMPLATE, template_name } })).template;
  const ask = (template_id: string, token = customer.token) => call(requestPlan, { token, body: { template_id } });
  const openIds = async () => replyOf(await call(listAllPlanRequests, { token: admin.token })).map(({ id }) => id);

  test('the admin finds who asked for what', async () => {
    const plan = await template('Asked for');
    const request = replyOf(await ask(plan.id));
    expect(request).toMatchObject({ template: plan, status: 'open', decided_at: null });
    expect(replyOf(await call(listAllPlanRequests, { token: admin.token }))).toEqual([
      { ...request, user_email: customer.email, user_username: 'maria' },
    ]);
    expect(replyOf(await call(listPlanRequests, { token: customer.token }))).toEqual([request]);
    const stranger = await signIn();
    expect(replyOf(await call(listPlanRequests, { token: stranger.token }))).toEqual([]);
  });

  test('the present subscription says that a plan is asked for, until it is withdrawn or premium', async () => {
    const person = await signIn('waiting');
    const ownOf = async () => replyOf(await call(currentSubscription, { token: person.token }));
    expect(await ownOf()).not.toHaveProperty('requested_at');
    const request = replyOf(await ask((await template('Awaited')).id, person.token));
    expect(await ownOf()).toMatchObject({ has_subscription: false, requested_at: request.requested_at });
    replyOf(await call(withdrawPlanRequest, { token: person.token, params: { id: request.id } }));
    expect(await ownOf()).not.toHaveProperty('requested_at');
    replyOf(await ask((await template('Awaited too')).id, person.token));
    replyOf(await call(assignSubscription, { token: admin.token, body: { user_email: person.email, ...PLAN } }));
    expect(await ownOf()).toMatchObject({ is_premium: true });
    expect(await ownOf()).not.toHaveProperty('requested_at');
  });

  test('of several at once for one plan one is open', async () => {
    const plan = await template('Contested');
    const answers = await Promise.all([1, 2, 3, 4].map(() => ask(plan.id)));
    expect(answers.map(({ status }) => status).sort()).toEqual([201, 409, 409, 409]);
    const other = await template('Another');
    expect((await ask(other.id)).status).toBe(201);
  });

  test('assigning with the request grants it, once and only to whom it belongs', async () => {
    const plan = await template('To be granted');
    const request = replyOf(await ask(plan.id));
    const stranger = await signIn('stranger');
    const assign = (user_email: string) =>
      call(assignSubscription, { token: admin.token, body: { user_email, ...PLAN, request_id: request.id } });
    replyOf(await assign(stranger.email));
    expect(await openIds()).toContain(request.id);
    replyOf(await assign(customer.email));
    expect(await openIds()).not.toContain(request.id);
    const own = replyOf(await call(listPlanRequests, { token: customer.token })).find(({ id }) => id === request.id);
    expect(own?.status).toBe('granted');
    expect((await ask(plan.id)).status).toBe(201);
  });

  test('a declined one is closed, and may be asked again', async () => {
    const plan = await template('Declined');
    const request = replyOf(await ask(plan.id));
    const decline = () => call(declinePlanRequest, { token: admin.token, body: { request_id: request.id } });
    const both = await Promise.all([decline(), decline()]);
    expect(both.map(({ status }) => status).sort()).toEqual([200, 404]);
    expect(await openIds()).not.toContain(request.id);
    expect((await ask(plan.id)).status).toBe(201);
  });

  test('one’s own can be withdrawn, another person’s is not found', async () => {
    const plan = await template('Withdrawn');
    const request = replyOf(await ask(plan.id));
    const withdraw = (token: string, id = request.id) => call(withdrawPlanRequest, { token, params: { id } });
    const stranger = await signIn();
    expect(problemOf(await withdraw(stranger.token)).status).toBe(404);
    expect(problemOf(await withdraw(admin.token)).status).toBe(404);
    expect((await withdraw(customer.token)).status).toBe(204);
    expect(problemOf(await withdraw(customer.token)).status).toBe(404);
    expect(problemOf(await withdraw(customer.token, 'no-id')).status).toBe(404);
    expect(await openIds()).not.toContain(request.id);
  });

  test('a plan is removed from the offer once it has no requests, and its owners keep it', async () => {
    const plan = await template('Mistyped');
    const request = replyOf(await ask(plan.id));
    const remove = (token = admin.token) => call(deleteTemplate, { token, body: { template_id: plan.id } });
    expect(problemOf(await remove(customer.token)).status).toBe(403);
    expect(problemOf(await remove())).toMatchObject({
      status: 409,
      detail: '“Mistyped” has an open request. Answer it first in Manage Subscriptions.',
    });
    const body = { ...PLAN, user_email: customer.email, plan_name: 'Mistyped', request_id: request.id };
    expect((await call(assignSubscription, { token: admin.token, body })).status).toBe(200);
    expect((await remove()).status).toBe(200);
    const offered = replyOf(await call(listPlans, { token: customer.token }));
    expect(offered.map(({ id }) => id)).not.toContain(plan.id);
    expect(replyOf(await call(currentSubscription, { token: customer.token }))).toMatchObject({ plan_name: 'Mistyped' });
    expect(problemOf(await remove()).status).toBe(404);
    expect(problemOf(await ask(plan.id)).status).toBe(404);
    // Its name is free again.
    await template('Mistyped');
  });

  test('a plan that is not there cannot be asked for', async () => {
    expect(problemOf(await ask(NOWHERE)).status).toBe(404);
    expect(problemOf(await ask('no id')).status).toBe(422);
  });
});

describe('letters', async () => {
  const { app, call, admin, customer } = await start({ EXPOSURE: 'local', PUBLIC_URL: 'https://guard.example' });
  const { template } = replyOf(await call(createTemplate, { token: admin.token, body: TEMPLATE }));
  const assign = (change: Partial<Assignment> = {}) =>
    call(assignSubscription, { token: admin.token, body: { user_email: customer.email, ...PLAN, ...change } });
  const lettersTo = (email: string) =>
    app.database.selectFrom('mails').select(['subject', 'text']).where('recipient', '=', email).orderBy('id').execute();
  const request = async () => replyOf(await call(requestPlan, { token: customer.token, body: { template_id: template.id } })).id;

  test('tell of a plan that was given, and whether it was asked for', async () => {
    replyOf(await assign());
    replyOf(await assign({ request_id: await request(), is_premium: false, max_devices: 1, duration_months: 1 }));
    const [given, granted, ...others] = await lettersTo(customer.email);
    expect(others).toEqual([]);
    expect(given?.subject).toContain('You have a new plan');
    expect(given?.text).toContain('“Family Shield”');
    expect(given?.text).toContain('Devices: 5\nAnti-Hacking tools: included\nEnds: 31 January 2027 (');
    expect(granted?.subject).toContain('Your requested plan is active');
    expect(granted?.text).toContain('Devices: 1\nEnds: 28 February 2026 (');
    for (const letter of [given, granted]) expect(letter?.text).toContain('\nhttps://guard.example/subscription-manager\n');
  });

  test('tell of a request that was declined, once, and not of one that its person took back', async () => {
    const before = (await lettersTo(customer.email)).length;
    const declined = await request();
    const both = await Promise.all(
      [1, 2].map(() => call(declinePlanRequest, { token: admin.token, body: { request_id: declined } })),
    );
    expect(both.map(({ status }) => status).sort()).toEqual([200, 404]);
    const withdrawn = await request();
    await call(withdrawPlanRequest, { token: customer.token, params: { id: withdrawn } });
    const [letter, ...others] = (await lettersTo(customer.email)).slice(before);
    expect(others).toEqual([]);
    expect(letter?.text).toContain('An administrator declined your request for the plan “Family Shield”.');
    expect(letter?.text).toContain('\nhttps://guard.example/subscription-manager\n');
  });

  test('are not written of a plan that was not given', async () => {
    const before = (await lettersTo(customer.email)).length;
    problemOf(await assign({ user_email: 'nobody@example.com' }));
    problemOf(await assign({ price: -1 }));
    expect(await lettersTo('nobody@example.com')).toEqual([]);
    expect(await lettersTo(customer.email)).toHaveLength(before);
  });
});
