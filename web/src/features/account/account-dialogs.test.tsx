import { type Activity, exportActivity, listActivity } from '@palisade/contract/audit';
import { changePassword, changeUsername, currentUser } from '@palisade/contract/auth';
import { readConfig } from '@palisade/contract/platform';
import { deleteAccount, exportData } from '@palisade/contract/privacy';
import { endOtherSessions, endSession, listSessions } from '@palisade/contract/sessions';
import { readTwoFactor } from '@palisade/contract/two-factor';
import { renderHook, screen, waitFor, within } from '@testing-library/react';
import userEvent from '@testing-library/user-event';
import { useState } from 'react';
import { beforeEach, describe, expect, it, onTestFinished, vi } from 'vitest';
import { CONFIG, MARIA, MARIA_ACCOUNT, TWO_FACTOR_OFF } from '#api/fake-records.ts';
import { at, FakeServer, page, refusal, reply } from '#api/fake-server.ts';
import { currentSession, useSession } from '#api/session.ts';
import { enter, renderForTest } from '#ui/render-for-test.tsx';
import { ProfileDialog } from './profile-dialog.tsx';
import { SecurityDialog } from './security-dialog.tsx';

const server = FakeServer.ofEachTest(MARIA);
const onClose = vi.fn();

const HERE = {
  id: '01930000-0000-7000-8000-000000000101',
  client: 'Firefox on Linux',
  source: '127.0.0.1',
  created_at: '2026-11-20T09:00:00.000Z',
  last_used_at: '2026-11-20T10:00:00.000Z',
  current: true,
};
const PHONE = { ...HERE, id: '01930000-0000-7000-8000-000000000102', client: 'Safari on iPhone', source: null, current: false };

/** Security Preferences, opened by a button of the page. */
function Opened() {
  const [isOpen, setIsOpen] = useState(false);
  return (
    <>
      <button type="button" onClick={() => setIsOpen(true)}>
        Choose a new password
      </button>
      {isOpen && <SecurityDialog tab="password" onClose={() => setIsOpen(false)} />}
    </>
  );
}

beforeEach(() => {
  server.answer(currentUser, MARIA_ACCOUNT);
  server.answer(listSessions, [PHONE, HERE]);
  server.answer(readTwoFactor, TWO_FACTOR_OFF);
  server.answer(listActivity, []);
  server.answer(readConfig, CONFIG);
});

describe('Profile Settings', () => {
  function open() {
    renderForTest(<ProfileDialog onClose={onClose} />);
    return userEvent.setup();
  }

  async function rename(user: ReturnType<typeof open>, name: string) {
    const field = await screen.findByLabelText('Username');
    await user.clear(field);
    await user.type(field, name);
    await user.click(screen.getByRole('button', { name: 'Change Username' }));
  }

  it('shows email, role, and since when the account is there', async () => {
    open();
    expect(await screen.findByText('maria@example.com')).toBeVisible();
    expect(screen.getByText('Customer')).toBeVisible();
    expect(screen.getByText(/2026/u)).toHaveAttribute('datetime', MARIA_ACCOUNT.created_at);
    expect(screen.queryByText(/Your password alone/iu)).not.toBeInTheDocument();
  });

  it('changes the username, here and in the stored session', async () => {
    server.answer(changeUsername, { ...MARIA_ACCOUNT, username: 'zoe' });
    const user = open();
    expect(await screen.findByRole('button', { name: 'Change Username' })).toBeDisabled();
    await rename(user, ' zoe ');
    expect(await screen.findByText('Username changed.')).toBeVisible();
    expect(server.callsOf(changeUsername)[0]?.body).toEqual({ username: 'zoe' });
    expect(currentSession()?.user_info.username).toBe('zoe');
    expect(localStorage.getItem('palisade.user_info')).not.toContain('created_at');
  });

  it('says at the field that a name is taken', async () => {
    server.on(changeUsername, refusal('username_taken'));
    const user = open();
    await rename(user, 'omar');
    await screen.findByText('This username is taken. Choose another.');
    expect(screen.getByLabelText('Username')).toBeInvalid();
    expect(currentSession()?.user_info.username).toBe('maria');
  });

  it('offers to read again what could not be read', async () => {
    server.on(currentUser, refusal('internal'));
    const user = open();
    const alert = await screen.findByRole('alert');
    server.answer(currentUser, MARIA_ACCOUNT);
    await user.click(within(alert).getByRole('button', { name: 'Retry' }));
    expect(await screen.findByLabelText('Username')).toHaveValue('maria');
  });

  it('gives all of one’s data as a file for the password', async () => {
    const saved = vi.spyOn(HTMLAnchorElement.prototype, 'click').mockImplementation(() => {});
    vi.stubGlobal('URL', Object.assign(URL, { createObjectURL: () => 'blob:file', revokeObjectURL: () => {} }));
    server.on(exportData, refusal('invalid_field', { errors: [{ field: 'password', message: 'Wrong password. Try again.' }] }));
    const user = open();
    await user.click(await screen.findByRole('button', { name: 'Export my data' }));
    await user.type(screen.getByLabelText('Your password'), 'x');
    await user.click(screen.getByRole('button', { name: 'Export' }));
    expect(await screen.findByText('Wrong password. Try again.')).toBeVisible();
    expect(saved).not.toHaveBeenCalled();
    server.on(exportData, { status: 200, text: '{}' });
    await user.type(screen.getByLabelText('Your password'), 'y');
    await user.click(screen.getByRole('button', { name: 'Export' }));
    expect(await screen.findByText('The file is in your downloads.')).toBeVisible();
    expect(screen.getByRole('button', { name: 'Done' })).toHaveFocus();
    expect(saved).toHaveBeenCalledOnce();
    expect(server.callsOf(exportData)[1]?.body).toEqual({ password: 'xy' });
    saved.mockRestore();
  });

  it('asks for the second factor as well, also one that was set up elsewhere meanwhile', async () => {
    const errors = [{ field: 'code', message: 'Enter a code from your app, or use a recovery code or passkey.' }];
    server.on(exportData, refusal('invalid_field', { errors }));
    const user = open();
    await user.click(await screen.findByRole('button', { name: 'Export my data' }));
    const field = await screen.findByLabelText('Your password');
    expect(screen.queryByLabelText('Code')).not.toBeInTheDocument();
    server.answer(readTwoFactor, { ...TWO_FACTOR_OFF, enabled: true, totp_since: MARIA_ACCOUNT.created_at });
    await user.type(field, 'correct horse{Enter}');
    expect(await screen.findByRole('alert')).toHaveTextContent('Enter a code from your app, or use a recovery code or passkey.');
    server.on(exportData, refusal('second_factor_refused', { detail: 'This code is wrong.' }));
    await user.type(await screen.findByLabelText('Code'), '123456{Enter}');
    expect(await screen.findByText('This code is wrong.')).toBeVisible();
    expect(screen.getByLabelText('Code')).toHaveFocus();
    expect(server.callsOf(exportData)[1]?.body).toEqual({ password: 'correct horse', code: '123456' });
  });

  it('says at its field that the code is missing, and deletes nothing', async () => {
    server.answer(readTwoFactor, { ...TWO_FACTOR_OFF, enabled: true, totp_since: MARIA_ACCOUNT.created_at });
    const user = open();
    await user.click(await screen.findByRole('button', { name: 'Delete my account' }));
    const form = within(await screen.findByRole('form', { name: 'Delete my account' }));
    await user.type(form.getByLabelText(/^Type .* to confirm$/u), MARIA_ACCOUNT.email);
    await enter(user, form.getByLabelText('Your password'), 'correct horse');
    await user.click(form.getByRole('button', { name: 'Delete for good' }));
    const code = form.getByLabelText('Code');
    expect(code).toHaveFocus();
    expect(code).toHaveAccessibleDescription(/Fill in this field to continue\.$/u);
    expect(server.callsOf(deleteAccount)).toEqual([]);
  });

  it('deletes the account once its email is typed, and ends the session', async () => {
    server.on(deleteAccount, refusal('last_admin'));
    const user = open();
    await user.click(await screen.findByRole('button', { name: 'Delete my account' }));
    const form = await screen.findByRole('form', { name: 'Delete my account' });
    expect(form).toHaveTextContent('This cannot be undone.');
    const submit = within(form).getByRole('button', { name: 'Delete for good' });
    await enter(user, within(form).getByLabelText('Your password'), 'correct horse');
    await enter(user, within(form).getByLabelText('Type maria@example.com to confirm'), 'maria@example');
    expect(submit).toBeDisabled();
    await user.type(within(form).getByLabelText('Type maria@example.com to confirm'), '.com');
    await user.click(submit);
    expect(await screen.findByRole('alert')).toHaveTextContent('Make someone else an administrator first.');
    expect(currentSession()).toBeDefined();
    server.answer(deleteAccount, { success: true });
    await user.click(submit);
    await waitFor(() => expect(currentSession()).toBeUndefined());
    expect(renderHook(useSession).result.current.notice).toBe('account_deleted');
  });
});

describe('Security Preferences', () => {
  function open() {
    renderForTest(<SecurityDialog tab="sessions" onClose={onClose} />);
    return userEvent.setup();
  }

  const choose = (user: ReturnType<typeof open>, name: string) => user.click(screen.getByRole('tab', { name }));

  async function change(user: ReturnType<typeof open>) {
    await choose(user, 'Password');
    await enter(user, screen.getByLabelText('Current Password'), 'correct horse');
    await enter(user, screen.getByLabelText('New Password'), 'battery staple');
    await user.click(screen.getByRole('button', { name: 'Change Password' }));
  }

  it('lists the sessions of somebody with more than a page of them, page by page', async () => {
    const older = { ...PHONE, id: '01930000-0000-7000-8000-000000000103', client: 'Edge on Windows' };
    server.on(listSessions, page(listSessions, [HERE, PHONE], { next: PHONE.id }));
    renderForTest(<SecurityDialog tab="sessions" onClose={onClose} />);
    const list = within(await screen.findByRole('region', { name: 'Signed-in sessions' }));
    expect(await list.findByText('Safari on iPhone')).toBeVisible();
    server.answer(listSessions, [older]);
    await userEvent.click(list.getByRole('button', { name: 'Show more' }));
    expect(await list.findByText('Edge on Windows')).toBeVisible();
    expect(list.getAllByRole('listitem')).toHaveLength(3);
    expect(list.queryByRole('button', { name: 'Show more' })).not.toBeInTheDocument();
  });

  it('leads with the arrow keys from tab to tab, and names itself by what it shows', async () => {
    const user = open();
    await choose(user, 'Sessions');
    await user.keyboard('{ArrowDown}{ArrowDown}');
    expect(screen.getByRole('tab', { name: 'Profile' })).toHaveFocus();
    expect(screen.getByRole('dialog', { name: 'Profile Settings' })).toBeVisible();
    await user.keyboard('{ArrowUp}{Home}{ArrowRight}');
    expect(screen.getByRole('tab', { name: 'Two-factor', selected: true })).toHaveFocus();
    expect(screen.getByRole('dialog', { name: 'Security Preferences' })).toBeVisible();
  });

  it('leads with the arrow keys along a line that runs to the left', async () => {
    document.documentElement.dir = 'rtl';
    onTestFinished(() => document.documentElement.removeAttribute('dir'));
    const user = open();
    await choose(user, 'Sessions');
    await user.keyboard('{Home}{ArrowLeft}');
    expect(screen.getByRole('tab', { name: 'Two-factor', selected: true })).toHaveFocus();
  });

  it('changes the password, clears both fields, and reads the sessions anew', async () => {
    server.answer(changePassword, { success: true });
    const user = open();
    await screen.findByText('Safari on iPhone');
    await change(user);
    expect(await screen.findByText('Password changed. You’re signed out everywhere else.')).toBeVisible();
    const form = screen.getByLabelText('Current Password').closest('form');
    expect(form?.querySelector('[autocomplete="username"]')).toHaveValue(MARIA.email);
    expect(server.callsOf(changePassword)[0]?.body).toEqual({
      current_password: 'correct horse',
      new_password: 'battery staple',
    });
    expect(screen.getByLabelText('Current Password')).toHaveValue('');
    expect(screen.getByLabelText('New Password')).toHaveValue('');
    await choose(user, 'Sessions');
    await waitFor(() => expect(server.callsOf(listSessions)).toHaveLength(2));
  });

  it('gives the focus back to what opened it', async () => {
    renderForTest(<Opened />);
    const user = userEvent.setup();
    const opener = screen.getByRole('button', { name: 'Choose a new password' });
    await user.click(opener);
    // It begins where it is needed.
    await waitFor(() => expect(screen.getByLabelText('Current Password')).toHaveFocus());
    await user.keyboard('{Escape}');
    expect(opener).toHaveFocus();
  });

  it('says at the field that the current password is wrong', async () => {
    const errors = [{ field: 'current_password', message: 'This isn’t your current password. Try again.' }];
    server.on(changePassword, refusal('invalid_field', { errors }));
    const user = open();
    await change(user);
    await screen.findByText('This isn’t your current password. Try again.');
    expect(screen.getByLabelText('Current Password')).toHaveFocus();
    expect(screen.getByLabelText('New Password')).toHaveValue('battery staple');
  });

  it('marks this session, which cannot be ended here', async () => {
    open();
    const [phone, here] = await screen.findAllByRole('listitem');
    expect(here).toHaveTextContent('Firefox on Linux127.0.0.1, signed in');
    expect(here).toHaveTextContent('This session');
    expect(within(screen.getAllByRole('listitem')[1] ?? document.body).queryByRole('button')).not.toBeInTheDocument();
    expect(phone).toHaveTextContent(/Safari on iPhonesigned in/u);
  });

  it('ends one session once the password is given', async () => {
    // The fake knows its addresses whole.
    const endPhone = at(endSession, PHONE);
    const errors = [{ field: 'password', message: 'Wrong password. Try again.' }];
    server.on(endPhone, refusal('invalid_field', { errors }));
    const user = open();
    await user.click(await screen.findByRole('button', { name: 'Sign out Safari on iPhone' }));
    const form = screen.getByRole('form', { name: 'Sign out Safari on iPhone?' });
    const field = within(form).getByLabelText('Your password');
    expect(field).toHaveFocus();
    await user.keyboard('wrong{Enter}');
    expect(await within(form).findByText('Wrong password. Try again.')).toBeVisible();
    server.on(endPhone, reply(endSession, undefined));
    server.answer(listSessions, [HERE]);
    await user.clear(field);
    await enter(user, field, 'correct horse');
    await user.click(within(form).getByRole('button', { name: 'Sign out' }));
    expect(await screen.findByText('Safari on iPhone is signed out.')).toBeVisible();
    await waitFor(() => expect(screen.getAllByRole('listitem')).toHaveLength(1));
    expect(server.callsOf(endPhone).map(({ body }) => body)).toEqual([{ password: 'wrong' }, { password: 'correct horse' }]);
    expect(screen.getByRole('heading', { name: 'Signed-in sessions' })).toHaveFocus();
    expect(screen.queryByRole('button', { name: 'Sign out everywhere else' })).not.toBeInTheDocument();
  });

  it('ends all others, and says when that failed', async () => {
    server.on(endOtherSessions, refusal('internal', { detail: 'The server is in trouble.' }));
    const user = open();
    await user.click(await screen.findByRole('button', { name: 'Sign out everywhere else' }));
    await user.keyboard('correct horse{Enter}');
    expect(await screen.findByText('The server is in trouble.')).toBeVisible();
    server.answer(endOtherSessions, undefined);
    server.answer(listSessions, [HERE]);
    await user.click(screen.getByRole('button', { name: 'Sign out' }));
    expect(await screen.findByText('You’re signed out everywhere else.')).toBeVisible();
    await waitFor(() => expect(screen.getAllByRole('listitem')).toHaveLength(1));
    expect(server.callsOf(endOtherSessions)[1]?.body).toEqual({ password: 'correct horse' });
  });

  it('ends nothing for who thinks better of it, and leaves the focus where it was', async () => {
    const user = open();
    await user.click(await screen.findByRole('button', { name: 'Sign out everywhere else' }));
    await user.click(screen.getByRole('button', { name: 'Cancel' }));
    expect(screen.getByRole('button', { name: 'Sign out everywhere else' })).toHaveFocus();
    expect(screen.queryByLabelText('Your password')).not.toBeInTheDocument();
    expect(server.callsOf(endOtherSessions)).toHaveLength(0);
  });

  it('tells what happened to the account in plain words, and who did it', async () => {
    const entry: Activity = {
      seq: 7,
      at: '2026-11-20T09:00:00.000Z',
      kind: 'signed_in',
      by: 'self',
      address: '203.0.113.7',
      client: 'Firefox on Windows',
      details: {},
    };
    const by = { by: 'administrator', address: null, client: null } as const;
    server.answer(listActivity, [
      { ...entry, ...by, seq: 9, kind: 'role_changed', details: { from: 'customer', to: 'support' } },
      { ...entry, ...by, seq: 8, kind: 'session_ended', details: { all: true } },
      entry,
    ]);
    await choose(open(), 'Activity');
    const list = await screen.findByRole('list', { name: 'Activity' });
    expect(
      within(list)
        .getAllByRole('listitem')
        .map(({ firstChild }) => firstChild?.textContent),
    ).toEqual([
      'Role changed from customer to support',
      'Signed out everywhere',
      'Signed in with Firefox on Windows from 203.0.113.7',
    ]);
    const [role, end, own] = within(list).getAllByRole('listitem');
    for (const item of [role, end]) expect(item).toHaveTextContent('by an administrator, ');
    expect(own).not.toHaveTextContent('administrator');
  });

  it('says why the activity could not be saved', async () => {
    server.on(exportActivity, refusal('internal', { detail: 'The server is in trouble.' }));
    const user = open();
    await choose(user, 'Activity');
    await user.click(await screen.findByRole('button', { name: 'Save your activity as CSV' }));
    expect(await screen.findByText('The server is in trouble.')).toBeVisible();
  });
});
