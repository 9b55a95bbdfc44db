import { changePassword, changeUsername, currentUser, endOtherSessions, endSession, listSessions } from '@palisade/contract/auth';
import { readTwoFactor } from '@palisade/contract/two-factor';
import { screen, waitFor, within } from '@testing-library/react';
import userEvent from '@testing-library/user-event';
import { beforeEach, describe, expect, it, vi } from 'vitest';
import { MARIA, MARIA_ACCOUNT, TWO_FACTOR_OFF } from '#api/fake-records.ts';
import { FakeServer, refusal, reply } from '#api/fake-server.ts';
import { currentSession, startSession } from '#api/session.ts';
import { renderForTest } from '#ui/render-for-test.tsx';
import { ProfileDialog } from './profile-dialog.tsx';
import { SecurityDialog } from './security-dialog.tsx';

let server: FakeServer;
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

beforeEach(() => {
  server = new FakeServer();
  startSession({ access_token: 'token-1', user_info: MARIA });
  server.on(currentUser, reply(currentUser, MARIA_ACCOUNT));
  server.on(listSessions, reply(listSessions, [PHONE, HERE]));
  server.on(readTwoFactor, reply(readTwoFactor, TWO_FACTOR_OFF));
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
    expect(screen.queryByText(/two-factor/iu)).not.toBeInTheDocument();
  });

  it('changes the username, here and in the stored session', async () => {
    server.on(changeUsername, reply(changeUsername, { ...MARIA_ACCOUNT, username: 'zoe' }));
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
    await screen.findByText('This username is taken. Choose another one.');
    expect(screen.getByLabelText('Username')).toBeInvalid();
    expect(currentSession()?.user_info.username).toBe('maria');
  });

  it('offers to read again what could not be read', async () => {
    server.on(currentUser, refusal('internal'));
    const user = open();
    const alert = await screen.findByRole('alert');
    server.on(currentUser, reply(currentUser, MARIA_ACCOUNT));
    await user.click(within(alert).getByRole('button', { name: 'Retry' }));
    expect(await screen.findByLabelText('Username')).toHaveValue('maria');
  });

  it('closes with Escape', async () => {
    const user = open();
    await screen.findByLabelText('Username');
    await user.keyboard('{Escape}');
    expect(onClose).toHaveBeenCalled();
  });
});

describe('Security Preferences', () => {
  function open() {
    renderForTest(<SecurityDialog onClose={onClose} />);
    return userEvent.setup();
  }

  async function change(user: ReturnType<typeof open>) {
    await user.type(screen.getByLabelText('Current Password'), 'correct horse');
    await user.type(screen.getByLabelText('New Password'), 'battery staple');
    await user.click(screen.getByRole('button', { name: 'Change Password' }));
  }

  it('changes the password, clears both fields, and reads the sessions anew', async () => {
    server.on(changePassword, reply(changePassword, { success: true }));
    const user = open();
    await screen.findByText('Safari on iPhone');
    await change(user);
    expect(await screen.findByText('Password changed. Everybody else is signed out.')).toBeVisible();
    expect(server.callsOf(changePassword)[0]?.body).toEqual({
      current_password: 'correct horse',
      new_password: 'battery staple',
    });
    expect(screen.getByLabelText('Current Password')).toHaveValue('');
    expect(screen.getByLabelText('New Password')).toHaveValue('');
    await waitFor(() => expect(server.callsOf(listSessions)).toHaveLength(2));
  });

  it('says at the field that the current password is wrong', async () => {
    const errors = [{ field: 'current_password', message: 'This is not your current password.' }];
    server.on(changePassword, refusal('invalid_field', { errors }));
    const user = open();
    await change(user);
    await screen.findByText('This is not your current password.');
    expect(screen.getByLabelText('Current Password')).toHaveFocus();
    expect(screen.getByLabelText('New Password')).toHaveValue('battery staple');
  });

  it('says that the network failed', async () => {
    server.lose(changePassword);
    const user = open();
    await change(user);
    expect(await screen.findByText('Network error. Please try again.')).toBeVisible();
  });

  it('marks this session, which cannot be ended here', async () => {
    open();
    const [phone, here] = await screen.findAllByRole('listitem');
    expect(here).toHaveTextContent('Firefox on Linux127.0.0.1, signed in');
    expect(here).toHaveTextContent('This session');
    expect(within(screen.getAllByRole('listitem')[1] ?? document.body).queryByRole('button')).not.toBeInTheDocument();
    expect(phone).toHaveTextContent(/Safari on iPhonesigned in/u);
  });

  it('ends one session', async () => {
    server.on(endSession, reply(endSession, undefined));
    const user = open();
    const button = await screen.findByRole('button', { name: 'Sign out Safari on iPhone' });
    // The fake knows its addresses whole.
    server.on({ ...endSession, path: `/auth/sessions/${PHONE.id}` }, reply(endSession, undefined));
    server.on(listSessions, reply(listSessions, [HERE]));
    await user.click(button);
    await waitFor(() => expect(screen.getAllByRole('listitem')).toHaveLength(1));
    expect(screen.queryByRole('button', { name: 'Sign out everywhere else' })).not.toBeInTheDocument();
  });

  it('ends all others, and says when that failed', async () => {
    server.on(endOtherSessions, refusal('internal', { detail: 'The server is in trouble.' }));
    const user = open();
    await user.click(await screen.findByRole('button', { name: 'Sign out everywhere else' }));
    const alert = await screen.findByRole('alert');
    expect(alert).toHaveTextContent('The server is in trouble.');
    server.on(endOtherSessions, reply(endOtherSessions, undefined));
    server.on(listSessions, reply(listSessions, [HERE]));
    await user.click(within(alert).getByRole('button', { name: 'Retry' }));
    await waitFor(() => expect(screen.getAllByRole('listitem')).toHaveLength(1));
    expect(screen.queryByRole('alert')).not.toBeInTheDocument();
  });
});
