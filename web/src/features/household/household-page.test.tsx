import {
  addProfile,
  answerAsk,
  changeProfile,
  type Household,
  inviteGuardian,
  pauseProfile,
  readHousehold,
  setDeviceProfile,
  tryProfile,
} from '@palisade/contract/household';
import { listPlans } from '@palisade/contract/subscription';
import { readWebProtection } from '@palisade/contract/web-protection';
import { cleanup, screen, waitFor, within } from '@testing-library/react';
import userEvent from '@testing-library/user-event';
import { beforeEach, describe, expect, it } from 'vitest';
import { askOf, householdOf, profileOf, webProtectionOf } from '#api/fake-devices.ts';
import { MARIA } from '#api/fake-records.ts';
import { at, FakeServer, refusal } from '#api/fake-server.ts';
import { enter, renderForTest } from '#ui/render-for-test.tsx';
import { HouseholdPage } from './household-page.tsx';

const MIA = profileOf();
const PHONE = { id: MIA.id, name: 'Mia’s phone', kind: 'android', last_question_at: null, is_silent: false } as const;

const server = FakeServer.ofEachTest(MARIA);
const user = userEvent.setup();

beforeEach(() => {
  server.answer(readWebProtection, webProtectionOf());
});

function open(home: Partial<Household> = {}) {
  server.answer(readHousehold, householdOf(home));
  renderForTest(<HouseholdPage />);
}

const cardOf = async (name: string) => within(await screen.findByRole('region', { name }));

it('says first which rules do not apply', async () => {
  server.answer(readWebProtection, { ...webProtectionOf(), categories: [] });
  open({ profiles: [profileOf({ devices: [{ ...PHONE, last_question_at: '2026-11-20T10:00:00.000Z' }] })] });
  const lead = await screen.findByRole('region', { name: 'Not every rule applies for Mia.' });
  expect(lead).toHaveAttribute('data-tone', 'attention');
  expect(lead).toHaveTextContent('This server lacks lists of websites. Support can add them.');
  expect(screen.getByText(/are not blocked: this server has no list/u)).toBeVisible();
  expect(within(lead).getByRole('link', { name: 'Ask support' })).toHaveAttribute('href', '/chat');
});

it('leads a person without a device to their first one', async () => {
  open({ profiles: [{ ...MIA, devices: [PHONE] }] });
  const waiting = within(await screen.findByRole('region', { name: 'Finish the steps on Mia’s phone.' }));
  expect(waiting.getByRole('link', { name: 'Show steps' })).toHaveAttribute('href', `/web-protection?device=${PHONE.id}`);
  expect(screen.getByText('Not connected yet')).toBeVisible();
  cleanup();
  open({ profiles: [{ ...MIA, devices: [] }] });
  const lead = within(await screen.findByRole('region', { name: 'Give your people their devices.' }));
  expect(lead.getByRole('link', { name: 'Add a device' })).toHaveAttribute('href', `/web-protection?add=&for=${MIA.id}`);
  expect(screen.getByRole('button', { name: 'Add a person' })).toHaveAttribute('data-variant', 'quiet');
});

describe('adding a person', () => {
  it('leads to the plans where it needs one', async () => {
    open({ guardians: [], profiles_maximum: 0, has_plan: false });
    expect(await screen.findByRole('link', { name: 'See plans' })).toHaveAttribute('href', '/subscription-manager');
    expect(screen.queryByRole('button', { name: 'Add a person' })).not.toBeInTheDocument();
  });

  it('leads to the chat where no plan is on offer', async () => {
    server.answer(listPlans, []);
    open({ guardians: [], profiles_maximum: 0, has_plan: false });
    expect(await screen.findByRole('link', { name: 'Ask for a plan' })).toHaveAttribute('href', '/chat');
  });

  it('takes a name, an age and two presses, and says what the age means', async () => {
    open({ guardians: [] });
    await user.click(await screen.findByRole('button', { name: 'Add a person' }));
    await enter(user, screen.getByRole('textbox', { name: 'Name' }), 'Mia');
    const ages = within(screen.getByRole('group', { name: 'How old is Mia?' }));
    await user.click(ages.getByRole('button', { name: /^8 to 12/ }));
    expect(screen.getByText('Search: no explicit results.')).toBeVisible();
    server.answer(addProfile, MIA);
    server.answer(readHousehold, householdOf({ profiles: [MIA] }));
    await user.click(screen.getByRole('button', { name: 'Add' }));
    expect(await (await cardOf('Mia')).findByText('Search: no explicit results.')).toBeVisible();
    expect(screen.queryByRole('region', { name: 'Add a person' })).toBeNull();
    expect(server.callsOf(addProfile).map(({ body }) => body)).toEqual([
      expect.objectContaining({ name: 'Mia', age_group: 'child', picture: 'fox', shared_by: [] }),
    ]);
  });

  it('asks for the age', async () => {
    open();
    await user.click(await screen.findByRole('button', { name: 'Add a person' }));
    await enter(user, screen.getByRole('textbox', { name: 'Name' }), 'Mia');
    await user.click(screen.getByRole('button', { name: 'Add' }));
    expect(screen.getByRole('alert')).toHaveTextContent('Choose an age.');
    expect(server.callsOf(addProfile)).toEqual([]);
  });

  it('says that the plan has no room', async () => {
    open({ profiles: [MIA], profiles_maximum: 1 });
    await user.click(await screen.findByRole('button', { name: 'Add a person' }));
    expect(screen.getByText(/^Your plan has room for 1 profile\./)).toBeVisible();
  });
});

describe('a person', () => {
  it('gets a free device', async () => {
    open({ profiles: [MIA], free_devices: [PHONE] });
    const card = await cardOf('Mia');
    expect(card.getByText('No device yet')).toBeVisible();
    await user.click(card.getByRole('button', { name: 'Add a device' }));
    expect(card.getByRole('link', { name: 'Another device' })).toHaveAttribute('href', `/web-protection?add=&for=${MIA.id}`);
    server.answer(at(setDeviceProfile, PHONE), undefined);
    server.answer(readHousehold, householdOf({ profiles: [{ ...MIA, devices: [PHONE] }] }));
    await user.click(card.getByRole('button', { name: 'Mia’s phone' }));
    expect(await card.findByText('Waiting for its first website request.')).toBeVisible();
    expect(server.calls).toContainEqual(expect.objectContaining({ method: 'PUT', body: { profile_id: MIA.id } }));
  });

  it('is paused until tomorrow, and resumed', async () => {
    open({ profiles: [MIA] });
    const card = await cardOf('Mia');
    await user.click(card.getByRole('button', { name: 'Pause' }));
    const paused_until = new Date(Date.now() + 3_600_000).toISOString();
    const pause = at(pauseProfile, MIA);
    server.answer(pause, { paused_until });
    server.answer(readHousehold, householdOf({ profiles: [{ ...MIA, state: 'paused', paused_until }] }));
    await user.click(await card.findByRole('menuitem', { name: 'Until tomorrow' }));
    await user.click(await card.findByRole('button', { name: 'Resume' }));
    await waitFor(() => expect(server.callsOf(pause).map(({ body }) => body)).toEqual([{ pause: 'tomorrow' }, { pause: 'end' }]));
  });

  it('has a test field that answers for the edited rules', async () => {
    open({ profiles: [MIA] });
    await user.click(await screen.findByRole('button', { name: 'Edit rules for Mia' }));
    const dialog = within(await screen.findByRole('dialog', { name: 'Rules for Mia' }));
    await user.click(dialog.getByRole('button', { name: 'Remove time' }));
    const attempt = at(tryProfile, MIA);
    server.answer(attempt, { is_allowed: false, category: 'gambling', rule: 'bet.example', is_safe_search: false });
    await enter(user, dialog.getByRole('textbox', { name: 'Website' }), 'bet.example');
    await user.click(dialog.getByRole('button', { name: 'Test' }));
    expect(await dialog.findByText('Refused: gambling.')).toBeVisible();
    const rules = { ...MIA.rules, times: [] };
    expect(server.callsOf(attempt).map(({ body }) => body)).toEqual([{ name: 'bet.example', day: 1, clock: '20:00', rules }]);
    server.answer(at(changeProfile, MIA), { ...MIA, rules });
    await user.click(dialog.getByRole('button', { name: 'Save' }));
    await waitFor(() => expect(screen.queryByRole('dialog')).toBeNull());
    expect(server.callsOf(at(changeProfile, MIA)).map(({ body }) => body)).toMatchObject([{ name: 'Mia', rules }]);
  });

  it('of 16 or older shows counts, and no websites', async () => {
    open({ profiles: [{ ...MIA, age_group: 'sixteen', devices: [PHONE] }] });
    const card = await cardOf('Mia');
    expect(card.getByText('16 and older: you see counts only.')).toBeVisible();
    expect(card.getByText('122 website requests, 2 refused.')).toBeVisible();
    expect(card.queryByText(/^Refused websites/)).toBeNull();
  });

  it('without a plan says what is left', async () => {
    open({ profiles: [{ ...MIA, state: 'no_plan' }], has_plan: false, profiles_maximum: 0 });
    expect((await cardOf('Mia')).getByText('Only dangerous websites are refused: no plan.')).toBeVisible();
  });
});

it('answers “May I?” with a line', async () => {
  const ask = askOf({ profile_id: MIA.id });
  open({ profiles: [MIA], asks: [ask] });
  const card = await cardOf('May I?');
  const mia = await cardOf('Mia');
  await enter(user, card.getByRole('textbox', { name: 'Your words to Mia' }), 'After homework');
  const answer = at(answerAsk, ask);
  const answered = { ...ask, answer: 'no', line: 'After homework', answered_at: ask.asked_at } as const;
  server.answer(answer, answered);
  server.answer(readHousehold, householdOf({ profiles: [MIA], asks: [answered] }));
  await user.click(card.getByRole('button', { name: 'No' }));
  await waitFor(() => expect(screen.queryByRole('button', { name: 'For one hour' })).toBeNull());
  expect(mia.getByText('roblox.com: no. “After homework”')).toBeInTheDocument();
  expect(server.callsOf(answer).map(({ body }) => body)).toEqual([{ answer: 'no', line: 'After homework' }]);
});

it('invites a guardian, and shows the whole link also where the server knows no public address', async () => {
  open({ profiles: [MIA] });
  await enter(user, await screen.findByRole('textbox', { name: 'Their email' }), 'ben@example.com');
  const invite = { id: MIA.id, email: 'ben@example.com', expires_at: '2026-12-06T08:00:00.000Z' };
  server.answer(inviteGuardian, { ...invite, link: '/household/join#abc' });
  await user.click(screen.getByRole('button', { name: 'Invite guardian' }));
  expect(await screen.findByText(/^We email this link/)).toBeVisible();
  expect(screen.getByText(`${window.location.origin}/household/join#abc`)).toBeVisible();
  server.on(inviteGuardian, refusal('conflict', { detail: 'This person is invited already.' }));
  await enter(user, screen.getByRole('textbox', { name: 'Their email' }), 'ben@example.com');
  await user.click(screen.getByRole('button', { name: 'Invite guardian' }));
  expect(await screen.findByText('This person is invited already.')).toBeVisible();
});

it('lets a guardian leave while another one stays, or nobody is left', async () => {
  const [anna] = householdOf().guardians;
  const guardians = anna === undefined ? [] : [anna];
  const ben = { id: PHONE.id, name: 'Ben', is_me: false };
  open({ profiles: [MIA], guardians });
  await cardOf('Your home');
  expect(screen.queryByRole('button', { name: 'Leave home' })).toBeNull();
  cleanup();
  open({ profiles: [MIA], guardians: [...guardians, ben] });
  expect(await screen.findByRole('button', { name: 'Leave home' })).toBeVisible();
  cleanup();
  open({ guardians });
  expect(await screen.findByRole('button', { name: 'Leave home' })).toBeVisible();
});

it('shows no address of a page that its person alone has', async () => {
  open({ profiles: [{ ...MIA, age_group: 'sixteen', ask_key: '' }] });
  await user.click(await (await cardOf('Mia')).findByText('Mia’s page'));
  expect(await screen.findByText(/^Mia has opened this page, so that only Mia has it\./)).toBeVisible();
  expect(screen.queryByRole('button', { name: 'Copy address' })).toBeNull();
});
