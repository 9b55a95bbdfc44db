import { forgotPassword, login, logout, recoverUsername, register, resetPassword } from '@palisade/contract/auth';
import { readConfig } from '@palisade/contract/platform';
import type { SecondFactor } from '@palisade/contract/problem';
import { loginSecondStep, requestPasskeyLogin } from '@palisade/contract/two-factor';
import { act, cleanup, fireEvent, screen, waitFor } from '@testing-library/react';
import userEvent from '@testing-library/user-event';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { refreshConfig } from '#api/config.ts';
import { CONFIG, MARIA } from '#api/fake-records.ts';
import { FakeServer, refusal } from '#api/fake-server.ts';
import { currentSession, endSession, type SessionNotice } from '#api/session.ts';
import { renderForTest } from '#ui/render-for-test.tsx';
import { signOut } from './auth.ts';
import { modeOfAddress } from './auth-modes.ts';
import { AuthPage } from './auth-page.tsx';

const server = FakeServer.ofEachTest();
const prepare = vi.fn(async () => undefined);

beforeEach(() => {
  endSession();
  window.history.replaceState(null, '', '/');
  server.answer(readConfig, CONFIG);
});

function open(notice?: SessionNotice) {
  renderForTest(<AuthPage notice={notice} prepare={prepare} />);
  return userEvent.setup({ delay: null, pointerEventsCheck: 0 });
}

const fill = (label: string, value: string) => fireEvent.change(screen.getByLabelText(label), { target: { value } });

const press = (user: ReturnType<typeof open>, name: string) => user.click(screen.getByRole('button', { name }));

function fillLogin() {
  fill('Email', 'maria@example.com');
  fill('Password', 'correct horse');
}

/** Sets the configuration of the server, and reads it anew. */
async function be(config: Partial<typeof CONFIG>): Promise<void> {
  server.answer(readConfig, { ...CONFIG, ...config });
  await act(refreshConfig);
}

async function fillRegistration(user: ReturnType<typeof userEvent.setup>) {
  await user.click(screen.getByRole('tab', { name: 'Register' }));
  fillLogin();
  fill('Username', 'maria');
  fill('Confirm Password', 'correct horse');
}

describe('signing in', () => {
  // proves: product-3.5-1
  it('says that it worked, makes the rest ready, and starts the session', async () => {
    server.answer(login, { access_token: 'token-1', user_info: MARIA });
    const user = open();
    fillLogin();
    await press(user, 'Sign In');
    const message = await screen.findByText('Login successful! Redirecting...');
    expect(message).toHaveAttribute('data-tone', 'good');
    expect(prepare).toHaveBeenCalled();
    await waitFor(() => expect(currentSession()).toEqual({ access_token: 'token-1', user_info: MARIA }));
  });

  it('counts down what the server asks to wait, for that email alone, and ends', async () => {
    const sentence = 'Too many wrong passwords for this email. Try again in 10 minutes.';
    server.on(login, refusal('too_many_requests', { detail: sentence, retry_after: 600 }));
    const user = open();
    fillLogin();
    const button = screen.getByRole('button', { name: 'Sign In' });
    await user.click(button);
    expect(await screen.findByText(/^(10:00|9:5\d)$/u)).toBeVisible();
    expect(screen.getByText(sentence)).toHaveClass('visually-hidden');
    expect(button).toBeDisabled();
    expect(screen.getByLabelText('Email')).toHaveFocus();

    await user.type(screen.getByLabelText('Email'), '.au');
    expect(button).toBeEnabled();
    expect(screen.queryByText(sentence)).toBeNull();
    await user.type(screen.getByLabelText('Email'), '{Backspace}{Backspace}{Backspace}');
    expect(button).toBeDisabled();

    const later = Date.now() + 600_000;
    vi.spyOn(Date, 'now').mockImplementation(() => later);
    expect(await screen.findByText('You can try again now.')).toHaveAttribute('role', 'status');
    expect(button).toBeEnabled();
    vi.restoreAllMocks();
  });

  it('says in our words what each field needs, without a call', async () => {
    const user = open();
    fill('Email', 'maria@');
    await press(user, 'Sign In');
    expect(screen.getByLabelText('Email')).toHaveAccessibleDescription('Enter an email address, like name@example.com.');
    expect(screen.getByLabelText('Email')).toHaveFocus();
    expect(screen.getByLabelText('Password')).toHaveAccessibleDescription('Fill in this field to continue.');
    expect(server.callsOf(login)).toEqual([]);
  });

  it.each([
    ['Login', 'username webauthn'],
    ['Register', 'username'],
  ])('%s names the email as the sign-in name, and takes a pasted one out of what stands around it', async (tab, autocomplete) => {
    const user = open();
    await user.click(screen.getByRole('tab', { name: tab }));
    const field = screen.getByLabelText('Email');
    expect(field).toHaveAttribute('autocomplete', autocomplete);
    await user.click(field);
    await user.paste('Maria Huber <maria@example.com>;');
    expect(field).toHaveValue('maria@example.com');
    await user.clear(field);
    await user.type(field, 'x@y.');
    expect(field).toHaveValue('x@y.');
  });

  it('shows the detail of a refusal in the live region', async () => {
    server.on(login, refusal('invalid_credentials'));
    const user = open();
    fillLogin();
    await press(user, 'Sign In');
    const message = await screen.findByText('The email or password is wrong. Try again.');
    expect(message).toHaveAttribute('role', 'status');
    expect(message).toHaveAttribute('data-tone', 'bad');
    expect(currentSession()).toBeUndefined();
  });

  it('shows what is typed when asked to', async () => {
    const user = open();
    expect(screen.getByLabelText('Password')).toHaveAttribute('type', 'password');
    await press(user, 'Show password');
    expect(screen.getByLabelText('Password')).toHaveAttribute('type', 'text');
  });

  it('says why a person is here who did not sign out', () => {
    open('session_ended');
    expect(screen.getByText(/Your session ended/u)).toBeVisible();
  });
});

describe('the second step', () => {
  const METHODS: SecondFactor[] = ['totp', 'recovery_code'];

  async function reach() {
    server.on(login, refusal('two_factor_required', { challenge: 'challenge-1', methods: METHODS }));
    const user = open();
    fillLogin();
    await press(user, 'Sign In');
    await screen.findByRole('heading', { name: 'One more step' });
    return user;
  }

  it('takes the code of the app and starts the session', async () => {
    const user = await reach();
    const code = screen.getByLabelText('Code');
    expect(code).toHaveFocus();
    expect(code).toHaveAttribute('autocomplete', 'one-time-code');
    expect(code).toHaveAttribute('inputmode', 'numeric');
    server.on(loginSecondStep, refusal('second_factor_refused'));
    await user.keyboard('111111{Enter}');
    expect(await screen.findByText('That didn’t match. Try again.')).toBeVisible();
    server.answer(loginSecondStep, { access_token: 'token-2', user_info: MARIA });
    await user.keyboard('222222{Enter}');
    await waitFor(() => expect(currentSession()?.access_token).toBe('token-2'));
    expect(server.callsOf(loginSecondStep).map(({ body }) => body)).toEqual([
      { challenge: 'challenge-1', code: '111111' },
      { challenge: 'challenge-1', code: '222222' },
    ]);
  });

  it('takes a recovery code instead', async () => {
    const user = await reach();
    await press(user, 'Use a recovery code');
    expect(screen.getByLabelText('Recovery code')).toHaveFocus();
    server.answer(loginSecondStep, { access_token: 'token-3', user_info: MARIA });
    await user.keyboard('aaaa-bbbb-cccc-dddd{Enter}');
    await waitFor(() => expect(currentSession()?.access_token).toBe('token-3'));
  });

  it('goes back to the password, also without a press when it took too long', async () => {
    const user = await reach();
    server.on(loginSecondStep, refusal('sign_in_expired'));
    await user.keyboard('111111{Enter}');
    expect(await screen.findByText(/Start again/u)).toHaveAttribute('role', 'status');
    expect(screen.getByLabelText('Email')).toHaveValue('maria@example.com');
    expect(screen.getByLabelText('Password')).toHaveFocus();
    await user.keyboard('correct horse{Enter}');
    await user.click(await screen.findByRole('button', { name: 'Back to sign in' }));
    expect(screen.getByRole('button', { name: 'Sign In' })).toBeVisible();
    expect(screen.queryByText(/Start again/u)).not.toBeInTheDocument();
  });
});

describe('signing in with a passkey', () => {
  const REQUEST = {
    origin: 'http://localhost:3000',
    challenge: 'AAAA',
    rpId: 'localhost',
    timeout: 1,
    userVerification: 'required' as const,
    allowCredentials: [],
  };

  afterEach(() => {
    Reflect.deleteProperty(window, 'PublicKeyCredential');
    Reflect.deleteProperty(navigator, 'credentials');
  });

  it('is offered where the browser has passkeys, and says where they work', async () => {
    open();
    expect(screen.queryByRole('button', { name: 'Use a passkey' })).not.toBeInTheDocument();
    cleanup();
    Object.assign(window, { PublicKeyCredential: class {} });
    const user = open();
    server.answer(requestPasskeyLogin, { ...REQUEST, origin: 'https://palisade.example' });
    await press(user, 'Use a passkey');
    const link = await screen.findByRole('link', { name: 'https://palisade.example' });
    expect(link).toHaveAttribute('href', 'https://palisade.example');
  });

  it('says that the person did not use one', async () => {
    Object.assign(window, { PublicKeyCredential: class {} });
    const get = vi.fn(async () => {
      throw new DOMException('no', 'NotAllowedError');
    });
    Object.assign(navigator, { credentials: { get } });
    const user = open();
    server.answer(requestPasskeyLogin, { ...REQUEST, origin: window.location.origin });
    await press(user, 'Use a passkey');
    expect(await screen.findByText(/was cancelled or took too long/u)).toBeVisible();
    expect(get).toHaveBeenCalledOnce();
    expect(currentSession()).toBeUndefined();
  });
});

describe('registering', () => {
  it('is what opens while nobody has an account, and says what the first one becomes', async () => {
    await be({ administrator: 'first_account' });
    const user = open();
    expect(await screen.findByRole('button', { name: 'Create Account' })).toBeVisible();
    expect(await screen.findByText('You’re the first here: you’ll be the administrator.')).toBeVisible();
    await user.click(screen.getByRole('tab', { name: 'Login' }));
    expect(screen.getByText('No account exists here yet. Register the first one.')).toBeVisible();
  });

  it('says where the first account is made, to who does not come from there', async () => {
    await be({ administrator: 'first_account_on_machine' });
    open();
    expect(await screen.findByText(/on the server’s own computer.*EXPOSURE, PUBLIC_URL, and ADMIN_EMAILS/u)).toBeVisible();
  });

  it('says in public exposure that a code by mail makes an administrator', async () => {
    await be({ exposure: 'public', administrator: 'named_email' });
    const user = open();
    const sentence = /Register with an address in ADMIN_EMAILS/u;
    expect(await screen.findByText(sentence)).toBeVisible();
    await user.click(screen.getByRole('tab', { name: 'Register' }));
    expect(screen.getByText(sentence)).toBeVisible();
    await be({});
    expect(screen.queryByText(/ADMIN_EMAILS/u)).not.toBeInTheDocument();
  });

  it('goes to the login tab, keeps the email, and does not sign in', async () => {
    server.answer(register, MARIA);
    const user = open();
    await fillRegistration(user);
    await press(user, 'Create Account');
    const message = await screen.findByText('Registration successful! Please login with your credentials.');
    expect(message).toHaveAttribute('data-tone', 'good');
    expect(screen.getByRole('tab', { name: 'Login' })).toHaveAttribute('aria-selected', 'true');
    expect(screen.getByLabelText('Email')).toHaveValue('maria@example.com');
    expect(screen.getByLabelText('Password')).toHaveValue('');
    expect(currentSession()).toBeUndefined();
  });

  it('changes tabs with the arrow keys', async () => {
    const user = open();
    await user.click(screen.getByRole('tab', { name: 'Login' }));
    await user.keyboard('{ArrowRight}');
    expect(screen.getByRole('tab', { name: 'Register' })).toHaveFocus();
    expect(screen.getByRole('button', { name: 'Create Account' })).toBeVisible();
  });
});

describe('signing out', () => {
  it('tells the server, forgets the session and loads the page anew', async () => {
    server.answer(logout, undefined);
    const reload = vi.fn();
    await signOut(reload);
    expect(server.callsOf(logout)).toHaveLength(1);
    expect(currentSession()).toBeUndefined();
    expect(reload).toHaveBeenCalledOnce();
  });

  it('waits no longer than three seconds', async () => {
    vi.useFakeTimers();
    server.on(logout, () => new Promise(() => undefined));
    const reload = vi.fn();
    const done = signOut(reload);
    await vi.advanceTimersByTimeAsync(2_900);
    expect(reload).not.toHaveBeenCalled();
    await vi.advanceTimersByTimeAsync(200);
    await done;
    expect(reload).toHaveBeenCalledOnce();
    vi.useRealTimers();
  });
});

async function openMode(link: string) {
  const user = open();
  await user.click(screen.getByRole('link', { name: link }));
  return user;
}

async function askForReset() {
  const user = await openMode('Forgot Password?');
  fill('Email', 'maria@example.com');
  await press(user, 'Send Reset Instructions');
  return user;
}

describe('the modes of the screen', () => {
  it.each([
    ['Forgot Password?', 'Send Reset Instructions', ['Email']],
    ['Forgot Username?', 'Recover Username', ['Email']],
  ])('%s leads to its own fields, and back', async (link, submit, labels) => {
    const user = await openMode(link);
    expect(screen.getByRole('button', { name: submit })).toBeVisible();
    expect(screen.getAllByRole('textbox').map((field) => field.getAttribute('name'))).toEqual(['email']);
    for (const label of labels) expect(screen.getByLabelText(label)).toHaveFocus();
    expect(screen.queryByRole('tab')).not.toBeInTheDocument();
    expect(screen.queryByLabelText('Password')).not.toBeInTheDocument();
    await user.click(screen.getByRole('link', { name: 'Back to Login' }));
    expect(screen.getByRole('button', { name: 'Sign In' })).toBeVisible();
    expect(screen.getByRole('tab', { name: 'Login' })).toHaveAttribute('aria-selected', 'true');
  });

  it('opens the mode that the address asks for, and takes it out of the address', () => {
    window.history.replaceState(null, '', '/firewall?mode=reset-password&x=1');
    open();
    expect(screen.getByRole('button', { name: 'Reset Password' })).toBeVisible();
    expect(screen.getByLabelText('Reset Token')).toBeRequired();
    expect(screen.getByLabelText('New Password')).toBeRequired();
    expect(screen.queryByLabelText('Email')).not.toBeInTheDocument();
    expect(window.location.pathname + window.location.search).toBe('/firewall?x=1');
  });

  it.each(['nonsense', '__proto__', ''])('answers an unknown mode %j as such', (mode) => {
    expect(modeOfAddress(`?mode=${mode}`)).toBe('unknown');
  });

  it('says that an operation failed when the page itself is at fault', async () => {
    const log = vi.spyOn(console, 'error').mockReturnValue();
    const user = await openMode('Forgot Username?');
    fill('Email', 'maria@example.com');
    // The first step of every call is broken.
    const { Headers } = globalThis;
    vi.stubGlobal('Headers', undefined);
    await press(user, 'Recover Username');
    expect(await screen.findByText('Operation failed')).toHaveAttribute('data-tone', 'bad');
    expect(log).toHaveBeenCalled();
    vi.stubGlobal('Headers', Headers);
  });
});

describe('a forgotten password', () => {
  async function reset() {
    server.answer(forgotPassword, { reset_token: 'token-1', expires_in: 900 });
    const user = await askForReset();
    await screen.findByLabelText('New Password');
    fill('New Password', 'a new long password');
    await press(user, 'Reset Password');
    return user;
  }

  it('shows the token and its validity where the machine itself asks, and takes it over', async () => {
    server.answer(forgotPassword, { reset_token: 'token-of-43-characters', expires_in: 900 });
    await askForReset();
    const message = await screen.findByText(/token-of-43-characters \(valid for 15 minutes\)/u);
    expect(message).toHaveAttribute('data-tone', 'good');
    expect(screen.getByRole('button', { name: 'Reset Password' })).toBeVisible();
    expect(screen.getByLabelText('Reset Token')).toHaveValue('token-of-43-characters');
    expect(screen.getByLabelText('New Password')).toHaveFocus();
  });

  it('has a way for people who have a code, and asks for one by hand without a mail server', async () => {
    await be({ reset_delivery: 'outbox' });
    const user = open();
    await user.click(screen.getByRole('link', { name: 'Forgot Password?' }));
    expect(screen.getByText(/This installation sends no email\. Ask your administrator for the code\.$/u)).toBeVisible();
    await user.click(screen.getByRole('link', { name: 'I have a code' }));
    expect(screen.getByLabelText('Reset Token')).toHaveAccessibleDescription('The code you got.');
    await be({});
    expect(screen.getByText(/^Enter your code and a new password\./u)).toBeVisible();
  });

  it('names the account to a password manager', async () => {
    server.answer(forgotPassword, { reset_token: null, expires_in: 900 });
    await askForReset();
    const form = (await screen.findByLabelText('New Password')).closest('form');
    expect(form?.querySelector('[autocomplete="username"]')).toHaveValue('maria@example.com');
    expect(form?.querySelectorAll('[autocomplete="new-password"]')).toHaveLength(1);
  });

  it('is replaced by a new one, and both secrets are cleared', async () => {
    server.answer(resetPassword, { success: true });
    const user = await reset();
    const message = await screen.findByText('Password reset successful! You can now login with your new password.');
    expect(message).toHaveAttribute('data-tone', 'good');
    expect(server.callsOf(resetPassword)[0]?.body).toEqual({ reset_token: 'token-1', new_password: 'a new long password' });
    expect(screen.getByLabelText('Email')).toHaveValue('maria@example.com');
    expect(screen.getByLabelText('Password')).toHaveValue('');
    await user.click(screen.getByRole('link', { name: 'Forgot Password?' }));
    server.answer(forgotPassword, { reset_token: null, expires_in: 900 });
    await press(user, 'Send Reset Instructions');
    expect(await screen.findByLabelText('Reset Token')).toHaveValue('');
    expect(screen.getByLabelText('New Password')).toHaveValue('');
  });

  it('stays when the token is worth nothing, and says so at the field', async () => {
    const errors = [{ field: 'reset_token', message: 'This reset token is worth nothing.' }];
    server.on(resetPassword, refusal('invalid_field', { detail: 'Ask for a new one.', errors }));
    await reset();
    expect(await screen.findByText('Ask for a new one.')).toHaveAttribute('data-tone', 'bad');
    expect(screen.getByLabelText('Reset Token')).toHaveAccessibleDescription(/worth nothing/u);
    expect(screen.getByLabelText('Reset Token')).toHaveFocus();
  });
});

describe('a forgotten username', () => {
  it('is told, and filled in', async () => {
    server.answer(recoverUsername, { username: 'maria' });
    const user = await openMode('Forgot Username?');
    fill('Email', 'maria@example.com');
    await press(user, 'Recover Username');
    const message = await screen.findByText('Username recovery successful! Your username is: maria');
    expect(message).toHaveAttribute('data-tone', 'good');
    expect(screen.getByLabelText('Email')).toHaveValue('maria@example.com');
    await user.click(screen.getByRole('tab', { name: 'Register' }));
    expect(screen.getByLabelText('Username')).toHaveValue('maria');
  });
});
