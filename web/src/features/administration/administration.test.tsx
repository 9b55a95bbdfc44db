import { checkAudit, listAudit } from '@palisade/contract/audit';
import { type Invitation, invitePerson, listInvitations, withdrawInvitation } from '@palisade/contract/invitation';
import { readMailServer } from '@palisade/contract/mail';
import { type PersonRecord, readPersonRecord } from '@palisade/contract/person-record';
import { readTwoFactor } from '@palisade/contract/two-factor';
import {
  type AdminUser,
  changeUser,
  deleteUnprovenUser,
  deleteUser,
  endUserSessions,
  listUserSessions,
  listUsers,
} from '@palisade/contract/users';
import { screen, waitFor, within } from '@testing-library/react';
import userEvent from '@testing-library/user-event';
import { beforeEach, describe, expect, it } from 'vitest';
import { MARIA, TWO_FACTOR_OFF } from '#api/fake-records.ts';
import { FakeServer, page, refusal, reply } from '#api/fake-server.ts';
import { enter, renderForTest } from '#ui/render-for-test.tsx';
import { AuditPage } from './audit-page.tsx';
import { AUDIT_CHECK, AUDIT_ENTRY, OMAR } from './fake-administration.ts';
import { UsersPage } from './users-page.tsx';

const server = FakeServer.ofEachTest({ ...MARIA, role: 'admin' });

const SELF: AdminUser = { ...OMAR, ...MARIA, role: 'admin', sessions: 1 };
const SESSION = {
  id: '01930000-0000-7000-8000-000000000911',
  client: 'Safari on iPhone',
  source: '203.0.113.7',
  created_at: '2026-11-20T09:00:00.000Z',
  last_used_at: '2026-11-20T10:00:00.000Z',
  current: false,
};
beforeEach(() => {
  server.answer(listUsers, [OMAR, SELF]);
  server.answer(listUserSessions, [SESSION, { ...SESSION, id: SELF.id, client: 'Edge on Windows' }]);
  server.answer(listInvitations, []);
  server.answer(readMailServer, { is_connected: false, sender: null });
  server.answer(listAudit, [AUDIT_ENTRY]);
  server.answer(checkAudit, AUDIT_CHECK);
});

describe('Users', () => {
  async function openRecord(name = OMAR.username) {
    renderForTest(<UsersPage />);
    const user = userEvent.setup();
    await user.click(await screen.findByRole('button', { name }));
    return { user, dialog: await screen.findByRole('dialog') };
  }

  async function open(name?: string) {
    const { user, dialog } = await openRecord(name);
    await user.click(within(dialog).getByRole('tab', { name: 'Account' }));
    return { user, dialog };
  }

  it('lists who is there, and marks oneself', async () => {
    renderForTest(<UsersPage />);
    expect(await screen.findByText('omar <b>')).toBeVisible();
    expect(screen.getByText('2 people')).toBeVisible();
    expect(screen.getByText('You')).toBeVisible();
  });

  it.each([
    [{ serious_alerts: 2, security_score: 100 }, 'In danger', 'danger'],
    [{ security_score: 100, state: 'attention', two_factor: false }, 'No two-factor', 'attention'],
    [{ security_score: 79, state: 'danger' }, 'In danger', 'danger'],
    [{ security_score: 100, state: 'attention' }, 'Needs attention', 'attention'],
    [{}, 'Not checked', 'plain'],
  ] as const)('shows plan, last use and security of %j', async (facts, words, tone) => {
    server.answer(listUsers, [{ ...OMAR, plan_name: 'Family', two_factor: true, ...facts }]);
    renderForTest(<UsersPage />);
    // A filter has the same words.
    expect((await screen.findByText(words, { selector: '[data-tone]' })).dataset['tone']).toBe(tone);
    expect(screen.getByText('Family')).toBeVisible();
    expect(screen.queryByText('Enabled')).not.toBeInTheDocument();
    expect(screen.queryByText('100%')).not.toBeInTheDocument();
    // Used later than signed in.
    expect(document.querySelector('time')).toHaveAttribute('datetime', OMAR.last_used_at);
  });

  it('opens the record of the person in the address', async () => {
    renderForTest(<UsersPage />, `/admin/users?person=${OMAR.id}`);
    expect(await screen.findByRole('dialog', { name: OMAR.username })).toBeVisible();
  });

  it('says that nobody matches, and shows everybody again', async () => {
    renderForTest(<UsersPage />);
    const user = userEvent.setup();
    await screen.findByText('omar <b>');
    server.answer(listUsers, []);
    await user.type(screen.getByLabelText('Search the people'), 'zzz');
    expect(await screen.findByText('No matches')).toBeVisible();
    await user.click(screen.getByRole('button', { name: 'Show everyone' }));
    expect(screen.getByLabelText('Search the people')).toHaveValue('');
    expect(await screen.findByText('omar <b>')).toBeVisible();
  });

  it('shows the record of a person, and leads to a plan and to their conversation', async () => {
    const record: PersonRecord = {
      card: {
        ...{ user_id: OMAR.id, username: OMAR.username, email: OMAR.email, since: OMAR.created_at },
        status: { state: 'danger', sentence: 'An infected file is on your device.', steps: 2, is_scored: true },
        ...{ plan_name: 'Solo', is_premium: true, security_score: 82, open_alerts: 3, conversations_closed: 1 },
        devices: [{ name: '<b>laptop</b>', last_seen_at: null }],
        scans: { clean: 4, infected: 1, pending: 0, test_files: 2 },
        infected_files: [],
        remote_sessions: [],
        ratings: { count: 0, average: null },
      },
      conversation: { id: '01930000-0000-7000-8000-000000000921', status: 'open' },
      administration: {
        plan: { expires_at: '2027-11-20T10:00:00.000Z', max_devices: 5 },
        alerts: { active: 3, unstopped: 1, gravest: { threat_type: 'brute_force', severity: 'high' } },
      },
    };
    server.answer(readPersonRecord, record);
    const { dialog } = await openRecord();
    expect(await within(dialog).findByText('<b>laptop</b>')).toBeVisible();
    expect(within(dialog).getByText('In danger')).toBeVisible();
    expect(within(dialog).getByText('Score 82%, 2 open steps')).toBeVisible();
    expect(within(dialog).getByText('They see: “An infected file is on your device.”')).toBeVisible();
    expect(within(dialog).getByRole('link', { name: 'Open alerts: 3' })).toHaveAttribute(
      'href',
      '/admin/audit?person=omar%40example.com&kind=all-alerts',
    );
    expect(within(dialog).getByRole('link', { name: 'Assign a plan' })).toHaveAttribute(
      'href',
      '/subscription-manager?tab=assign&email=omar%40example.com',
    );
    expect(within(dialog).getByRole('link', { name: 'Read and answer' })).toHaveAttribute(
      'href',
      `/support?conversation=${record.conversation?.id}`,
    );
  });

  it('invites by email, and withdraws', async () => {
    renderForTest(<UsersPage />);
    const user = userEvent.setup();
    await user.click(await screen.findByRole('button', { name: 'Invite someone' }));
    const dialog = within(await screen.findByRole('dialog', { name: 'Invite someone' }));
    expect(await dialog.findByText(/^No email goes out\./u)).toBeVisible();
    await enter(user, dialog.getByLabelText('Email'), 'zoe@example.com');
    await user.selectOptions(dialog.getByLabelText('Role'), 'Support');
    server.on(invitePerson, refusal('conflict', { detail: 'zoe@example.com has an account already.' }));
    await user.click(dialog.getByRole('button', { name: 'Send invitation' }));
    expect(await dialog.findByText('zoe@example.com has an account already.')).toBeVisible();
    const invitation: Invitation = {
      ...{ id: '01930000-0000-7000-8000-000000000931', email: 'zoe@example.com', role: 'support' },
      ...{ created_at: '2026-11-20T10:00:00.000Z', expires_at: '2026-11-27T10:00:00.000Z' },
    };
    server.on(invitePerson, () => {
      server.answer(listInvitations, [invitation]);
      return reply(invitePerson, invitation);
    });
    await user.click(dialog.getByRole('button', { name: 'Send invitation' }));
    expect(await screen.findByText(/^We’ve written to zoe@example.com/u)).toBeVisible();
    expect(server.callsOf(invitePerson)[1]?.body).toEqual({ email: 'zoe@example.com', role: 'support' });
    server.on(withdrawInvitation, () => {
      server.answer(listInvitations, []);
      return reply(withdrawInvitation, { success: true });
    });
    await user.click(await screen.findByRole('button', { name: 'Withdraw the invitation of zoe@example.com' }));
    await waitFor(() => expect(screen.queryByRole('list', { name: 'Open invitations' })).not.toBeInTheDocument());
  });

  it('asks for a role, a state and an order', async () => {
    const asked: string[] = [];
    server.on(listUsers, (query) => {
      asked.push(['role', 'state', 'sort'].map((name) => query.get(name) ?? '').join(' '));
      return reply(listUsers, [OMAR]);
    });
    renderForTest(<UsersPage />);
    const user = userEvent.setup();
    await screen.findByText('omar <b>');
    await user.selectOptions(screen.getByLabelText('Role'), 'Administrator');
    await user.selectOptions(screen.getByLabelText('State'), 'Disabled');
    await user.selectOptions(screen.getByLabelText('Order'), 'By username');
    await waitFor(() => expect(asked).toEqual(['  urgent', 'admin  urgent', 'admin disabled urgent', 'admin disabled name']));
  });

  it('reads further pages', async () => {
    const full = Array.from({ length: 50 }, (_, index) => ({
      ...OMAR,
      id: `01930000-0000-7000-8000-${String(1000 + index).padStart(12, '0')}`,
      username: `person ${index}`,
    }));
    server.on(listUsers, page(listUsers, full, { next: full.at(-1)?.id ?? '', total: 10_051 }));
    renderForTest(<UsersPage />);
    const more = await screen.findByRole('button', { name: 'Show more (10,001 left)' });
    expect(screen.getByText('10,051 people')).toBeVisible();
    server.on(listUsers, (query) => {
      expect(query.get('cursor')).toBe(full.at(-1)?.id);
      return page(listUsers, [OMAR], {});
    });
    await userEvent.setup().click(more);
    expect(await screen.findByText('omar <b>')).toBeVisible();
    expect(screen.getByText('10,051 people')).toBeVisible();
    expect(screen.queryByRole('button', { name: /Show more/ })).not.toBeInTheDocument();
  });

  it('gives a role once it is confirmed, and says why not', async () => {
    const { user, dialog } = await open();
    server.on(changeUser, refusal('last_admin'));
    await user.selectOptions(within(dialog).getByLabelText('Role'), 'Support');
    expect(server.callsOf(changeUser)).toHaveLength(0);
    await user.click(within(dialog).getByRole('button', { name: 'Make Support' }));
    expect(await within(dialog).findByRole('alert')).toHaveTextContent('Make someone else an administrator first.');
    server.answer(changeUser, { ...OMAR, role: 'support' });
    server.answer(listUsers, [{ ...OMAR, role: 'support' }, SELF]);
    await user.click(within(dialog).getByRole('button', { name: 'Make Support' }));
    await waitFor(() => expect(within(dialog).queryByRole('button', { name: 'Make Support' })).not.toBeInTheDocument());
    expect(server.callsOf(changeUser)[1]?.body).toEqual({ user_id: OMAR.id, role: 'support' });
    expect(within(dialog).getByLabelText('Role')).toHaveValue('support');
    expect(await within(dialog).findByText(/^Done\. From now on the Support Desk is in their menu/u)).toBeVisible();
  });

  it('answers in the window also once its person is gone from the list', async () => {
    const { user, dialog } = await open();
    // A person with a new role no longer matches the filter of the list.
    server.answer(changeUser, { ...OMAR, role: 'support' });
    server.answer(listUsers, [SELF]);
    await user.selectOptions(within(dialog).getByLabelText('Role'), 'Support');
    await user.click(within(dialog).getByRole('button', { name: 'Make Support' }));
    expect(await within(dialog).findByText(/^Done\. From now on the Support Desk is in their menu/u)).toBeVisible();
    expect(screen.queryByRole('button', { name: OMAR.username, hidden: true })).not.toBeInTheDocument();
    server.on(changeUser, refusal('not_found', { detail: 'This account no longer exists.' }));
    await user.click(within(dialog).getByRole('button', { name: 'Disable account' }));
    await user.click(within(dialog).getByRole('button', { name: 'Disable and sign out' }));
    expect(await within(dialog).findByRole('alert')).toHaveTextContent('This account no longer exists.');
    await user.keyboard('{Escape}');
    await waitFor(() => expect(dialog).not.toBeInTheDocument());
  });

  it('warns whoever takes the role from themselves', async () => {
    const { user, dialog } = await open(SELF.username);
    await user.selectOptions(within(dialog).getByLabelText('Role'), 'Customer');
    expect(within(dialog).getByText(/You’ll stop being an administrator at once/u)).toBeVisible();
  });

  it('asks before it disables, and enables again', async () => {
    const { user, dialog } = await open();
    const disabled = { ...OMAR, disabled_at: '2026-11-20T10:00:00.000Z', sessions: 0 };
    server.answer(changeUser, disabled);
    await user.click(within(dialog).getByRole('button', { name: 'Disable account' }));
    expect(dialog).toHaveTextContent('Disable omar@example.com and end 2 sessions?');
    expect(server.callsOf(changeUser)).toHaveLength(0);
    server.answer(listUsers, [disabled, SELF]);
    await user.click(within(dialog).getByRole('button', { name: 'Disable and sign out' }));
    const enable = await within(dialog).findByRole('button', { name: 'Enable account' });
    expect(server.callsOf(changeUser)[0]?.body).toEqual({ user_id: OMAR.id, disabled: true });
    server.answer(listUsers, [OMAR, SELF]);
    await user.click(enable);
    expect(await within(dialog).findByRole('button', { name: 'Disable account' })).toBeVisible();
    expect(server.callsOf(changeUser)[1]?.body).toEqual({ user_id: OMAR.id, disabled: false });
  });

  it('asks before it deletes an account that nobody confirmed, and offers it for no other', async () => {
    server.answer(listUsers, [{ ...OMAR, email_unproven: true }, SELF]);
    server.on(deleteUnprovenUser, refusal('conflict', { detail: 'Somebody has confirmed the address of this account.' }));
    const { user, dialog } = await open();
    expect(within(dialog).getByText('Unconfirmed')).toBeVisible();
    await user.click(within(dialog).getByRole('button', { name: 'Delete account' }));
    await user.click(within(dialog).getByRole('button', { name: 'Delete for good' }));
    expect(await within(dialog).findByText('Somebody has confirmed the address of this account.')).toBeVisible();
    server.answer(deleteUnprovenUser, { success: true });
    server.answer(listUsers, [SELF]);
    await user.click(within(dialog).getByRole('button', { name: 'Delete for good' }));
    await waitFor(() => expect(dialog).not.toBeInTheDocument());
    expect(server.callsOf(deleteUnprovenUser)[1]?.body).toEqual({ user_id: OMAR.id });
    await user.click(await screen.findByRole('button', { name: SELF.username }));
    await user.click(screen.getByRole('tab', { name: 'Account' }));
    expect(screen.queryByRole('button', { name: 'Delete account' })).not.toBeInTheDocument();
  });

  it('deletes the account of somebody who is known, for the email typed and one’s own password', async () => {
    server.answer(readTwoFactor, TWO_FACTOR_OFF);
    server.on(deleteUser, refusal('invalid_field', { errors: [{ field: 'password', message: 'The password is wrong.' }] }));
    const { user, dialog } = await open();
    await user.click(within(dialog).getByRole('button', { name: 'Delete account' }));
    const form = await within(dialog).findByRole('form', { name: `Delete the account of ${OMAR.email}` });
    expect(form).toHaveTextContent('their scans, and every file in quarantine');
    expect(form).toHaveTextContent('They are signed out at once (2 sessions).');
    const submit = within(form).getByRole('button', { name: 'Delete for good' });
    expect(submit).toBeDisabled();
    await user.type(within(form).getByLabelText(`Type ${OMAR.email} to confirm`), OMAR.email);
    await enter(user, within(form).getByLabelText('Your password'), 'not mine');
    await user.click(submit);
    expect(await within(form).findByText('The password is wrong.')).toBeVisible();
    expect(within(form).getByLabelText('Your password')).toHaveFocus();

    server.answer(deleteUser, { success: true });
    server.answer(listUsers, [SELF]);
    await user.click(submit);
    await waitFor(() => expect(dialog).not.toBeInTheDocument());
    expect(server.callsOf(deleteUser)[1]?.body).toEqual({ user_id: OMAR.id, password: 'not mine', confirmation: OMAR.email });
    await waitFor(() => expect(screen.queryByText(OMAR.email)).not.toBeInTheDocument());
    await waitFor(() => expect(document.body).not.toHaveFocus());
  });

  it('keeps the focus where it was when the button that had it is gone', async () => {
    const { user, dialog } = await open();
    const button = (name: string) => within(dialog).findByRole('button', { name });
    await user.click(await button('Disable account'));
    expect(await button('Keep it')).toHaveFocus();
    await user.click(await button('Keep it'));
    expect(await button('Disable account')).toHaveFocus();

    server.answer(changeUser, { ...OMAR, role: 'support' });
    server.answer(listUsers, [{ ...OMAR, role: 'support' }, SELF]);
    await user.selectOptions(within(dialog).getByLabelText('Role'), 'Support');
    await user.click(await button('Make Support'));
    await waitFor(() => expect(within(dialog).getByLabelText('Role')).toHaveFocus());

    server.answer(listUserSessions, [{ ...SESSION, id: SELF.id, client: 'Edge on Windows' }]);
    server.answer(endUserSessions, { success: true });
    await user.click(await button('Sign out Safari on iPhone'));
    await waitFor(async () => expect(await button('Sign out Edge on Windows')).toHaveFocus());
  });

  it('ends one session or all', async () => {
    const { user, dialog } = await open();
    server.answer(endUserSessions, { success: true });
    await user.click(await within(dialog).findByRole('button', { name: 'Sign out Safari on iPhone' }));
    await user.click(within(dialog).getByRole('button', { name: 'Sign out everywhere' }));
    await waitFor(() =>
      expect(server.callsOf(endUserSessions).map(({ body }) => body)).toEqual([
        { user_id: OMAR.id, session_id: SESSION.id },
        { user_id: OMAR.id },
      ]),
    );
  });
});

describe('Audit log', () => {
  it('is read anew after what an administrator does', async () => {
    renderForTest(
      <>
        <UsersPage />
        <AuditPage />
      </>,
    );
    const user = userEvent.setup();
    await screen.findByText('12 entries verified');
    server.answer(endUserSessions, { success: true });
    await user.click(await screen.findByRole('button', { name: OMAR.username }));
    await user.click(await screen.findByRole('tab', { name: 'Account' }));
    await user.click(await screen.findByRole('button', { name: 'Sign out Safari on iPhone' }));
    await waitFor(() => expect(server.callsOf(listAudit)).toHaveLength(2));
    await waitFor(() => expect(server.callsOf(checkAudit)).toHaveLength(2));
    server.answer(changeUser, { ...OMAR, disabled_at: '2026-11-20T10:00:00.000Z' });
    await user.click(screen.getByRole('button', { name: 'Disable account' }));
    await user.click(screen.getByRole('button', { name: 'Disable and sign out' }));
    await waitFor(() => expect(server.callsOf(listAudit)).toHaveLength(3));
  });
});
