import type { Role } from '@palisade/contract/auth';
import { currentSubscription } from '@palisade/contract/current-subscription';
import { readConfig } from '@palisade/contract/platform';
import {
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
  readAnswerTime,
  requestPlan,
  withdrawPlanRequest,
} from '@palisade/contract/subscription';
import { type AdminUser, listUsers } from '@palisade/contract/users';
import { cleanup, fireEvent, screen, waitFor, within } from '@testing-library/react';
import userEvent from '@testing-library/user-event';
import { useLocation } from 'react-router';
import { beforeEach, describe, expect, it, vi } from 'vitest';
import { refreshConfig } from '#api/config.ts';
import { keepDraft } from '#api/drafts.ts';
import { CONFIG, MARIA, NO_PLAN, PREMIUM_PLAN, subscriptionOf, templateOf, userPlanRequestOf } from '#api/fake-records.ts';
import { at, FakeServer, refusal, reply } from '#api/fake-server.ts';
import { startSession } from '#api/session.ts';
import { enter, renderForTest, textsOf } from '#ui/render-for-test.tsx';
import { EMPTY_ASSIGNMENT } from './drafts.ts';
import { SubscriptionManagerPage } from './subscription-manager-page.tsx';

const server = FakeServer.ofEachTest();
const OMAR: AdminUser = {
  ...{ ...MARIA, id: '01930000-0000-7000-8000-000000000901', username: 'omar', email: 'omar@example.com' },
  ...{ created_at: '2026-03-02T09:00:00.000Z', disabled_at: null, last_signed_in_at: null, last_used_at: null },
  ...{ sessions: 0, two_factor: false, email_unproven: false, plan_name: null },
  ...{ security_score: null, state: null, serious_alerts: 0, has_silent_device: false },
};
beforeEach(() => {
  // jsdom has no layout to scroll.
  Element.prototype.scrollIntoView = () => undefined;
  vi.spyOn(console, 'error').mockImplementation(() => undefined);
  server.answer(listSubscriptions, []);
  server.answer(listTemplates, []);
  server.answer(listAllPlanRequests, []);
  server.answer(currentSubscription, NO_PLAN);
  server.answer(listPlans, []);
  server.answer(listPlanRequests, []);
  server.answer(readAnswerTime, { answered: 0, median_s: null });
  server.answer(listUsers, []);
});

function Address() {
  return <p data-search={useLocation().search} />;
}

function open(role: Role, address?: string) {
  startSession({ access_token: 'token-1', user_info: { ...MARIA, role } });
  renderForTest(
    <>
      <SubscriptionManagerPage />
      <Address />
    </>,
    address,
  );
  return userEvent.setup({ delay: null, pointerEventsCheck: 0 });
}

const field = (name: string) => screen.getByLabelText(name, { exact: true });
const options = (name: string) => textsOf(within(field(name)).getAllByRole('option'));
const TEMPLATES = '/subscription-manager?tab=templates';
const MANAGE = '/subscription-manager?tab=manage';
const openTab = (user: ReturnType<typeof userEvent.setup>, name: string) => user.click(screen.getByRole('tab', { name }));
const message = () => screen.getAllByRole('status').find((line) => line.classList.contains('message-line'));

it('opens the tab that the address names', async () => {
  const user = open('admin', '/subscription-manager?tab=manage');
  const isOpen = (name: string) => expect(screen.getByRole('tab', { name })).toHaveAttribute('aria-selected', 'true');
  isOpen('Manage Subscriptions');
  await openTab(user, 'Templates');
  isOpen('Templates');
  // So does a reload of the page then.
  await waitFor(() => expect(document.querySelector('[data-search]')).toHaveAttribute('data-search', '?tab=templates'));
});

it('is for the person whose record led here', async () => {
  server.answer(listUsers, [OMAR]);
  const user = open('admin', '/subscription-manager?tab=assign&email=omar%40example.com');
  const person = await screen.findByLabelText('User Email');
  expect(person).toHaveValue('omar@example.com');
  // People are proposed while one types.
  await user.clear(person);
  await user.type(person, 'om');
  await waitFor(() => expect(document.querySelector('datalist option')).toHaveValue('omar@example.com'));
});

describe('assigning', () => {
  const change = (name: string, value: string) => fireEvent.change(field(name), { target: { value } });

  function fill() {
    change('User Email', 'maria@example.com');
    change('Plan Name', 'Family Shield');
    change('Custom Price', '19.99');
  }

  it('starts with 12 months, 1 device, not premium and no features, and offers the specification’s lists', () => {
    open('admin');
    expect(field('Duration')).toHaveValue('12');
    expect(field('Max Devices')).toHaveValue('1');
    expect(screen.getByRole('checkbox', { name: 'Premium (Anti-Hacking Tools)' })).not.toBeChecked();
    expect(options('Duration')).toEqual(['1 month', '3 months', '6 months', '12 months', '24 months', '36 months']);
    expect(options('Max Devices')).toEqual(['1 device', '3 devices', '5 devices', '10 devices', 'Unlimited']);
    expect(field('User Email')).toBeRequired();
    expect(field('User Email')).toHaveAttribute('type', 'email');
    expect(field('Plan Name')).toBeRequired();
    expect(field('Custom Price')).toBeRequired();
    expect(field('Custom Price')).toHaveAttribute('step', '0.01');
  });

  it('sends what was typed, says that it worked in green, and starts anew', async () => {
    server.answer(assignSubscription, { success: true, subscription: subscriptionOf() });
    const user = open('admin');
    fill();
    await user.selectOptions(field('Duration'), '3 months');
    await user.selectOptions(field('Max Devices'), 'Unlimited');
    await user.selectOptions(field('Profiles at home'), '3 people');
    await user.click(screen.getByRole('checkbox', { name: 'Premium (Anti-Hacking Tools)' }));
    await user.type(field('Features'), '  Anti-hacking monitor {Enter}');
    await enter(user, field('Features'), 'Remote support');
    await user.click(screen.getByRole('button', { name: 'Add' }));
    await user.click(screen.getByRole('button', { name: 'Assign Subscription' }));
    expect(await screen.findByText('Subscription assigned successfully to maria@example.com')).toBeVisible();
    expect(message()).toHaveAttribute('data-tone', 'good');
    expect(server.callsOf(assignSubscription).map(({ body }) => body)).toEqual([
      {
        user_email: 'maria@example.com',
        plan_name: 'Family Shield',
        price: 19.99,
        duration_months: 3,
        max_devices: 999,
        max_web_devices: 10,
        max_profiles: 3,
        is_premium: true,
        features: ['Anti-hacking monitor', 'Remote support'],
      },
    ]);
    expect(field('User Email')).toHaveValue('');
    expect(field('Custom Price')).toHaveValue('');
    expect(field('Duration')).toHaveValue('12');
    expect(field('Max Devices')).toHaveValue('1');
    expect(screen.getByRole('checkbox', { name: 'Premium (Anti-Hacking Tools)' })).not.toBeChecked();
    expect(screen.queryByRole('button', { name: /^Remove/u })).not.toBeInTheDocument();
  });

  it('shows the end of a plan before and after, and extends the same plan unless asked to start again', async () => {
    const present = subscriptionOf({ plan_name: 'Family Shield', status: 'active', expires_at: '2031-03-05T10:00:00.000Z' });
    server.answer(listSubscriptions, [present, subscriptionOf({ status: 'expired', expires_at: '2020-03-05T10:00:00.000Z' })]);
    server.answer(assignSubscription, { success: true, subscription: present });
    const user = open('admin');
    fill();
    const effect = () => document.querySelector('.assign__effect')?.textContent;
    await waitFor(() => expect(effect()).toMatch(/^They have this plan. Its end: .*2031.* before, .*2032.* after\.$/u));
    await user.click(screen.getByRole('checkbox', { name: 'Start again from today' }));
    expect(effect()).not.toContain('2032');
    await user.click(screen.getByRole('button', { name: 'Assign Subscription' }));
    await waitFor(() => expect(server.callsOf(assignSubscription)[0]?.body).toMatchObject({ starts_over: true }));
    change('User Email', 'maria@example.com');
    change('Plan Name', 'Another plan');
    change('Custom Price', '9');
    expect(effect()).toMatch(/^It starts at once and replaces “Family Shield”\. End: .*2031.* before, /u);
    expect(screen.queryByRole('checkbox', { name: 'Start again from today' })).toBeNull();
  });

  it('previews a plan once it has a name and a price', () => {
    open('admin');
    change('Plan Name', 'Family Shield');
    expect(screen.queryByText('What’s included')).not.toBeInTheDocument();
    change('Custom Price', '0');
    expect(screen.getByText('$0.00 USD')).toBeVisible();
  });

  it('keeps what was typed over a reload and a step back, until it is assigned', async () => {
    open('admin');
    fill();
    cleanup();
    open('admin');
    expect(field('User Email')).toHaveValue('maria@example.com');
    expect(field('Plan Name')).toHaveValue('Family Shield');
  });

  it('says the server’s sentence in red and at the field that it names, and keeps what was typed', async () => {
    const errors = [{ field: 'features.0', message: 'Use at most 200 characters.' }];
    server.on(assignSubscription, refusal('invalid_field', { detail: 'Check what was successful.', errors }));
    const user = open('admin');
    fill();
    await user.click(screen.getByRole('button', { name: 'Assign Subscription' }));
    expect(await screen.findByText('Error: Check what was successful.')).toBeVisible();
    expect(message()).toHaveAttribute('data-tone', 'danger');
    expect(field('Plan Name')).toHaveValue('Family Shield');
    expect(field('Features')).toHaveAccessibleDescription('Use at most 200 characters.');
  });

  it('adds no blank feature and none twice, and removes one', async () => {
    const user = open('admin');
    await user.type(field('Features'), '   {Enter}');
    await user.type(field('Features'), '{Enter}');
    expect(screen.queryByRole('button', { name: /^Remove/u })).not.toBeInTheDocument();
    await user.clear(field('Features'));
    await user.type(field('Features'), ' one {Enter}');
    await user.type(field('Features'), 'one{Enter}');
    expect(screen.getByText('This feature is already in the list.')).toBeVisible();
    expect(screen.getAllByRole('button', { name: 'Remove one' })).toHaveLength(1);
    await user.click(screen.getByRole('button', { name: 'Remove one' }));
    expect(screen.queryByRole('button', { name: 'Remove one' })).not.toBeInTheDocument();
  });
});

describe('templates', () => {
  it('are edited in the form that creates them', async () => {
    const plan = templateOf();
    server.answer(listTemplates, [plan]);
    const user = open('admin', '/subscription-manager?tab=templates');
    await user.click(await screen.findByRole('button', { name: `Edit ${plan.template_name}` }));
    const name = screen.getByLabelText('Template Name');
    expect(name).toHaveFocus();
    expect(name).toHaveValue(plan.template_name);
    await user.clear(name);
    await enter(user, name, 'Family Two');
    server.answer(changeTemplate, { success: true, template: { ...plan, template_name: 'Family Two' } });
    await user.click(screen.getByRole('button', { name: 'Save Template' }));
    expect(await screen.findByText('Template "Family Two" saved successfully')).toBeVisible();
    expect(server.callsOf(changeTemplate)[0]?.body).toMatchObject({ template_id: plan.id, template_name: 'Family Two' });
    expect(await screen.findByRole('button', { name: 'Create Template' })).toBeVisible();
  });

  it('says that there are none yet', async () => {
    open('admin', TEMPLATES);
    expect(await screen.findByText('No templates yet')).toBeVisible();
  });

  it('creates one, says so in green, starts anew, and reads the list again', async () => {
    const user = open('admin');
    await openTab(user, 'Templates');
    expect(options('Duration')).toEqual(['1 month', '12 months', '24 months']);
    const template = templateOf({ template_name: 'Solo <b>', features: [] });
    server.answer(createTemplate, { success: true, template });
    server.answer(listTemplates, [template]);
    await enter(user, field('Template Name'), ' Solo <b> ');
    await user.type(field('Base Price'), '4.5');
    await user.click(screen.getByRole('button', { name: 'Create Template' }));
    expect(await screen.findByText('Template "Solo <b>" created successfully')).toBeVisible();
    expect(message()).toHaveAttribute('data-tone', 'good');
    expect(server.callsOf(createTemplate)[0]?.body).toEqual({
      template_name: 'Solo <b>',
      base_price: 4.5,
      duration_months: 12,
      max_devices: 1,
      max_web_devices: 10,
      max_profiles: 5,
      is_premium: false,
      features: [],
    });
    expect(field('Template Name')).toHaveValue('');
    expect(await screen.findByRole('article', { name: 'Solo <b>' })).toBeVisible();
  });

  it('is taken off the offer after a question, and stays while somebody asks for it', async () => {
    const plan = templateOf();
    server.answer(listTemplates, [plan]);
    server.on(deleteTemplate, refusal('conflict', { detail: 'Somebody asks for it.' }));
    const confirm = vi.spyOn(window, 'confirm').mockReturnValue(false);
    const user = open('admin', TEMPLATES);
    const remove = await screen.findByRole('button', { name: 'Withdraw Family Shield' });
    await user.click(remove);
    expect(server.callsOf(deleteTemplate)).toEqual([]);
    confirm.mockReturnValue(true);
    await user.click(remove);
    expect(await screen.findByText('Error: Somebody asks for it.')).toBeVisible();
    server.on(deleteTemplate, () => {
      server.answer(listTemplates, []);
      return reply(deleteTemplate, { success: true });
    });
    await user.click(remove);
    expect(await screen.findByText('Template "Family Shield" withdrawn')).toBeVisible();
    await waitFor(() => expect(screen.queryByRole('article', { name: 'Family Shield' })).not.toBeInTheDocument());
  });

  it('shows each, and Use Template copies it into the assign form', async () => {
    server.answer(listTemplates, [templateOf()]);
    const user = open('admin');
    await enter(user, field('User Email'), 'maria@example.com');
    await openTab(user, 'Templates');
    const card = within(await screen.findByRole('article', { name: 'Family Shield' }));
    for (const text of ['$19.99 USD', '5 devices', 'Premium', 'Anti-hacking monitor', 'Five devices'])
      expect(card.getByText(text)).toBeVisible();
    expect(card.getByText(/for 12 months/u)).toBeVisible();
    await user.click(card.getByRole('button', { name: 'Use Template Family Shield' }));
    expect(screen.getByText('Template loaded for assignment')).toBeVisible();
    expect(screen.getByRole('tab', { name: 'Assign Subscription' })).toHaveAttribute('aria-selected', 'true');
    expect(field('User Email')).toHaveValue('maria@example.com');
    expect(field('User Email')).toHaveFocus();
    expect(field('Plan Name')).toHaveValue('Family Shield');
    expect(field('Custom Price')).toHaveValue('19.99');
    expect(field('Duration')).toHaveValue('12');
    expect(field('Max Devices')).toHaveValue('5');
    expect(screen.getByRole('checkbox', { name: 'Premium (Anti-Hacking Tools)' })).toBeChecked();
    expect(screen.getByRole('button', { name: 'Remove Five devices' })).toBeVisible();
  });
});

describe('managing', () => {
  it('shows of each subscription whose, what, how much, how long, its status and its end', async () => {
    server.answer(listSubscriptions, [
      subscriptionOf(),
      subscriptionOf({
        user_email: 'jonas@example.com',
        user_username: 'jonas',
        is_premium: false,
        status: 'expired',
        expires_at: null,
      }),
    ]);
    open('admin', MANAGE);
    expect(await screen.findByRole('heading', { name: 'Active Subscriptions' })).toBeVisible();
    const columns = ['User', 'Plan', 'Price', 'Duration', 'Type', 'Status', 'Expires', 'Actions'];
    expect(textsOf(screen.getAllByRole('columnheader'))).toEqual(columns);
    const [, active, expired] = screen.getAllByRole('row').map((row) => within(row));
    for (const text of ['maria@example.com', 'maria', 'Family Shield', '$19.99 USD', '12 months', 'Premium'])
      expect(active?.getByText(text)).toBeVisible();
    expect(active?.getByText('Active')).toHaveAttribute('data-tone', 'safe');
    expect(active?.getByText(/20.*2027|2027/u)).toBeVisible();
    expect(expired?.getByText('Expired')).toHaveAttribute('data-tone', 'danger');
    expect(expired?.getByText('Standard')).toBeVisible();
    expect(expired?.getByText('Never')).toBeVisible();
    expect(expired?.queryByRole('button')).not.toBeInTheDocument();
  });

  it('searches, filters, sorts, and says when nothing matches', async () => {
    server.answer(listSubscriptions, [
      subscriptionOf({ user_email: 'zoe@example.com', user_username: 'zoe', status: 'replaced' }),
      subscriptionOf({ user_email: 'anna@example.com', user_username: 'anna' }),
    ]);
    const user = open('admin', MANAGE);
    const emails = () => textsOf(screen.queryAllByText(/@example\.com$/u, { selector: 'td bdi' }));
    await waitFor(() => expect(emails()).toEqual(['zoe@example.com', 'anna@example.com']));
    const header = () => screen.getByRole('columnheader', { name: 'User' });
    await user.click(within(header()).getByRole('button'));
    expect(emails()).toEqual(['anna@example.com', 'zoe@example.com']);
    expect(header()).toHaveAttribute('aria-sort', 'ascending');
    await user.click(within(header()).getByRole('button'));
    expect(emails()).toEqual(['zoe@example.com', 'anna@example.com']);
    expect(header()).toHaveAttribute('aria-sort', 'descending');
    await user.selectOptions(field('Sort by'), 'User, ascending');
    expect(emails()).toEqual(['anna@example.com', 'zoe@example.com']);
    await user.selectOptions(field('Status'), 'Replaced');
    expect(emails()).toEqual(['zoe@example.com']);
    await user.type(field('Search'), 'anna');
    expect(await screen.findByText('No matches')).toBeVisible();
    expect(screen.getByRole('button', { name: 'Export CSV' })).toBeDisabled();
    await user.click(screen.getByRole('button', { name: 'Show all' }));
    expect(emails()).toHaveLength(2);
  });

  it('reads every page, and draws a hundred at a time', async () => {
    const all = Array.from({ length: 210 }, (_, index) => subscriptionOf({ user_email: `user-${index}@example.com` }));
    let asked = 0;
    server.on(listSubscriptions, () => {
      asked += 1;
      return reply(listSubscriptions, asked % 2 === 1 ? all.slice(0, 200) : all.slice(200));
    });
    const user = open('admin', MANAGE);
    expect(await screen.findByText('210 active of 210 assigned in total')).toBeVisible();
    expect(document.querySelectorAll('tbody tr')).toHaveLength(100);
    await user.click(screen.getByText('Show more (110 left)'));
    expect(document.querySelectorAll('tbody tr')).toHaveLength(200);
  });

  it('ends one after asking', async () => {
    const confirm = vi.spyOn(window, 'confirm').mockReturnValue(false);
    server.answer(listSubscriptions, [subscriptionOf()]);
    server.answer(cancelSubscription, { success: true });
    const user = open('admin', MANAGE);
    const cancel = await screen.findByRole('button', { name: 'Cancel plan of maria@example.com' });
    await user.click(cancel);
    expect(server.callsOf(cancelSubscription)).toHaveLength(0);
    confirm.mockReturnValue(true);
    await user.click(cancel);
    expect(await screen.findByText('Subscription of maria@example.com cancelled successfully')).toBeVisible();
    server.on(cancelSubscription, refusal('not_found', { detail: 'Over already.' }));
    await user.click(cancel);
    expect(await screen.findByText('Error: Over already.')).toBeVisible();
  });

  it('assigns what was requested with one press', async () => {
    const request = userPlanRequestOf();
    server.answer(listAllPlanRequests, [request]);
    server.answer(assignSubscription, { success: true, subscription: subscriptionOf() });
    const user = open('admin', MANAGE);
    await user.click(await screen.findByRole('button', { name: 'Assign plan to maria@example.com' }));
    await screen.findByText('Subscription assigned successfully to maria@example.com');
    const { template_name: plan_name, base_price: price } = request.template;
    const body = { request_id: request.id, user_email: request.user_email, plan_name, price };
    expect(server.callsOf(assignSubscription)[0]?.body).toMatchObject(body);
  });

  it('keeps an unsent assignment for another person unless asked', async () => {
    const ask = vi.spyOn(window, 'confirm').mockReturnValueOnce(false).mockReturnValueOnce(true);
    startSession({ access_token: 'token-1', user_info: { ...MARIA, role: 'admin' } });
    keepDraft('assign', JSON.stringify({ ...EMPTY_ASSIGNMENT, user_email: 'ben@example.com', plan_name: 'Solo' }));
    open('admin', '/subscription-manager?email=maria@example.com');
    await waitFor(() => expect(ask).toHaveBeenCalledTimes(1));
    expect(field('User Email')).toHaveValue('ben@example.com');
    cleanup();
    open('admin', '/subscription-manager?email=maria@example.com');
    await waitFor(() => expect(field('User Email')).toHaveValue('maria@example.com'));
    expect(field('Plan Name')).toHaveValue('Solo');
  });

  it('loads a request into the assign form, and sends which one it grants', async () => {
    const request = userPlanRequestOf();
    server.answer(listAllPlanRequests, [request]);
    server.answer(assignSubscription, { success: true, subscription: subscriptionOf() });
    const user = open('admin', MANAGE);
    await user.click(await screen.findByRole('button', { name: 'Change first, for maria@example.com' }));
    expect(field('User Email')).toHaveValue('maria@example.com');
    expect(field('Plan Name')).toHaveValue('Family Shield');
    await user.click(screen.getByRole('button', { name: 'Assign Subscription' }));
    await screen.findByText('Subscription assigned successfully to maria@example.com');
    expect(server.callsOf(assignSubscription)[0]?.body).toMatchObject({ request_id: request.id });
  });

  it('leads from any tab to a waiting request, and declines it after asking', async () => {
    vi.spyOn(window, 'confirm').mockReturnValue(true);
    server.answer(listAllPlanRequests, [userPlanRequestOf()]);
    const { promise, resolve } = Promise.withResolvers<ReturnType<typeof reply>>();
    server.on(declinePlanRequest, () => promise);
    const user = open('admin');
    await user.click(await screen.findByRole('button', { name: '1 request waits' }));
    const button = await screen.findByRole('button', { name: 'Decline the request from maria@example.com' });
    await user.click(button);
    expect(button).toHaveAttribute('aria-busy', 'true');
    server.answer(listAllPlanRequests, []);
    resolve(reply(declinePlanRequest, { success: true }));
    expect(await screen.findByText('Request from maria@example.com declined')).toBeVisible();
    await waitFor(() => expect(button).not.toBeInTheDocument());
    expect(document.body).not.toHaveFocus();
  });
});

describe.each(['customer', 'support'] as const)('for a %s', (role) => {
  it('makes no call of an administrator', async () => {
    open(role);
    expect(await screen.findByText('You don’t have a plan')).toBeVisible();
    expect(await screen.findByText(/^Your provider hasn’t published any\./u)).toBeVisible();
    expect(screen.queryByRole('tab')).not.toBeInTheDocument();
    expect(server.calls.filter(({ path }) => path.startsWith('/admin'))).toEqual([]);
  });
});

describe('for a customer', () => {
  it.each([
    [
      { phone: '', email: '' },
      'response',
      'Your provider hasn’t published any. Ask in the chat.',
      'The answer appears on this page.',
    ],
    [{ phone: '', email: 'help@example.com' }, 'email', /call or email support\.$/u, /^We email you the answer\./u],
  ] as const)(
    'promises a contact and an email only where there are: %j, %s',
    async (support, reset_delivery, contact, answer) => {
      server.answer(readConfig, { ...CONFIG, reset_delivery, support: { ...support, promise: '' } });
      await refreshConfig();
      open('customer');
      expect(await screen.findByText(contact)).toBeVisible();
      expect(screen.queryByRole('region', { name: 'What happens after a request' })).toBeNull();
      cleanup();
      server.answer(listPlans, [templateOf()]);
      open('customer');
      expect(await screen.findByText(answer)).toBeVisible();
    },
  );

  it('shows the own plan', async () => {
    server.answer(currentSubscription, PREMIUM_PLAN);
    open('customer');
    const card = within(screen.getByRole('region', { name: 'Your plan' }));
    const facts = ['Family Shield', 'Premium', '$19.99 USD', 'for 12 months', '5 computers with our program', 'Remote support'];
    for (const text of facts) expect(await card.findByText(text)).toBeVisible();
    expect(card.getByText(/^Until .*2027/u)).toBeVisible();
  });

  it('compares the plans line by line, and says how long an answer takes', async () => {
    server.answer(readAnswerTime, { answered: 12, median_s: 5 * 3600 });
    const solo = templateOf({ template_name: 'Solo', is_premium: false, features: [] });
    server.answer(listPlans, [templateOf(), { ...solo, id: MARIA.id }]);
    open('customer');
    const lines = (name: string) => textsOf(within(screen.getByRole('article', { name })).getAllByRole('listitem'));
    await screen.findByRole('article', { name: 'Solo' });
    expect(lines('Solo')).toEqual(lines('Family Shield').map((line) => `Not included: ${line}`));
    expect(await screen.findByText(/median wait of the last 12 requests was 5 hours/u)).toBeVisible();
  });

  it('leads to the own plan that ends soon, and to none while a request waits', async () => {
    const solo = { ...templateOf({ template_name: 'Solo' }), id: MARIA.id };
    server.answer(listPlans, [templateOf(), solo]);
    const own = { ...NO_PLAN, has_subscription: true, plan_name: 'Family Shield' };
    const endsIn = (days: number) => new Date(Date.now() + days * 86_400_000).toISOString();
    server.answer(currentSubscription, { ...own, expires_at: endsIn(365) });
    open('customer');
    expect(await screen.findByRole('button', { name: 'Extend plan Family Shield' })).toHaveAttribute('data-variant', 'quiet');
    cleanup();
    server.answer(currentSubscription, { ...own, expires_at: endsIn(30) });
    open('customer');
    expect(await screen.findByRole('button', { name: 'Extend plan Family Shield' })).toHaveAttribute('data-variant', 'primary');
    expect(screen.getByRole('button', { name: 'Request this plan Solo' })).toHaveAttribute('data-variant', 'quiet');
    cleanup();
    server.answer(listPlanRequests, [userPlanRequestOf({ template: solo })]);
    open('customer');
    expect(await screen.findByRole('button', { name: 'Extend plan Family Shield' })).toHaveAttribute('data-variant', 'quiet');
  });

  it.each([NO_PLAN, PREMIUM_PLAN])('can ask for a plan where none is on offer, and sees no empty list: %#', async (plan) => {
    server.answer(currentSubscription, plan);
    open('customer');
    expect(await screen.findByRole('link', { name: 'Ask for a plan' })).toHaveAttribute('href', '/chat');
    expect(screen.getAllByRole('region')).toHaveLength(1);
  });

  it('shows the own plan once, and of another one the parts that differ', async () => {
    server.answer(currentSubscription, PREMIUM_PLAN);
    const { is_premium, features, max_devices, max_web_devices, max_profiles } = PREMIUM_PLAN;
    const equal = templateOf({
      is_premium,
      features,
      max_devices: max_devices ?? 1,
      max_web_devices: max_web_devices ?? 1,
      max_profiles: max_profiles ?? 1,
    });
    const twin = { ...equal, id: MARIA.id, template_name: 'Twin' };
    server.answer(listPlans, [equal, twin]);
    open('customer');
    const card = within(await screen.findByRole('article', { name: 'Twin' }));
    expect(card.getByText('Includes the same as your plan.')).toBeVisible();
    expect(card.queryByRole('list')).not.toBeInTheDocument();
    expect(screen.queryByRole('article', { name: 'Family Shield' })).not.toBeInTheDocument();
    cleanup();
    server.answer(listPlans, [equal, { ...twin, max_devices: 999 }]);
    open('customer');
    expect(await screen.findByText('Everything else is as in your plan.')).toBeVisible();
  });

  it('asks for a plan, says since when, and takes the request back', async () => {
    const template = templateOf();
    const request = { ...userPlanRequestOf({ template }) };
    server.answer(listPlans, [template]);
    server.on(requestPlan, () => {
      server.answer(listPlanRequests, [request]);
      return reply(requestPlan, request);
    });
    const user = open('customer');
    await user.click(await screen.findByRole('button', { name: 'Request this plan Family Shield' }));
    expect(await screen.findByText(/^Requested on .*2026/u)).toBeVisible();
    expect(server.callsOf(requestPlan).map(({ body }) => body)).toEqual([{ template_id: template.id }]);
    server.on(at(withdrawPlanRequest, request), () => {
      server.answer(listPlanRequests, [{ ...request, status: 'withdrawn' }]);
      return reply(withdrawPlanRequest, undefined);
    });
    await user.click(await screen.findByRole('button', { name: 'Withdraw the request for Family Shield' }));
    expect(await screen.findByRole('button', { name: 'Request this plan Family Shield' })).toBeEnabled();
  });

  it('says why a request was refused, and that one was declined', async () => {
    const template = templateOf();
    server.answer(listPlans, [template]);
    server.answer(listPlanRequests, [
      userPlanRequestOf({ template, status: 'declined', decided_at: '2026-11-21T10:00:00.000Z' }),
    ]);
    server.on(requestPlan, refusal('not_found', { detail: 'This plan is no longer on offer.' }));
    const user = open('customer');
    expect(await screen.findByText(/^Declined on .*2026/u)).toBeVisible();
    await user.click(screen.getByRole('button', { name: 'Request this plan Family Shield' }));
    expect(await screen.findByText('This plan is no longer on offer.')).toBeVisible();
  });

  it('says what could not be read, and reads it on Retry', async () => {
    server.on(listPlans, refusal('forbidden'));
    const user = open('customer');
    const notice = await screen.findByRole('alert');
    expect(notice).toHaveTextContent('We couldn’t load the plans');
    server.answer(listPlans, [templateOf()]);
    await user.click(within(notice).getByRole('button', { name: 'Retry' }));
    expect(await screen.findByRole('article', { name: 'Family Shield' })).toBeVisible();
  });
});
