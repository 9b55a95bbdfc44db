import { readConfig } from '@palisade/contract/platform';
import { listSessions } from '@palisade/contract/sessions';
import {
  activateTotp,
  confirmIdentity,
  readTwoFactor,
  removePasskey,
  renewRecoveryCodes,
  startTotp,
  turnTwoFactorOff,
} from '@palisade/contract/two-factor';
import { screen, waitFor } from '@testing-library/react';
import userEvent from '@testing-library/user-event';
import { beforeEach, describe, expect, it, vi } from 'vitest';
import { CONFIG, MARIA, TWO_FACTOR_OFF } from '#api/fake-records.ts';
import { FakeServer, refusal } from '#api/fake-server.ts';
import { enter, renderForTest } from '#ui/render-for-test.tsx';
import { SecurityDialog } from './security-dialog.tsx';

const server = FakeServer.ofEachTest(MARIA);

const CODES = Array.from({ length: 10 }, (_, index) => `aaaa-bbbb-cccc-000${index}`);
const KEY = {
  id: '01930000-0000-7000-8000-000000000201',
  name: 'Work laptop',
  created_at: '2026-11-20T09:00:00.000Z',
  last_used_at: null,
};
const ON = { ...TWO_FACTOR_OFF, enabled: true, totp_since: '2026-11-20T09:00:00.000Z', recovery_codes_left: 2 };

beforeEach(() => {
  server.answer(listSessions, []);
  server.answer(readConfig, CONFIG);
  server.answer(confirmIdentity, { expires_in: 600 });
});

function open(twoFactor = TWO_FACTOR_OFF) {
  server.answer(readTwoFactor, { ...twoFactor, passkey_origin: window.location.origin });
  renderForTest(<SecurityDialog onClose={vi.fn()} />);
  return userEvent.setup();
}

describe('setting up an authenticator app', () => {
  it('goes from the password to the code and the recovery codes, and back to the list', async () => {
    server.answer(startTotp, { secret: 'ABCDEFGH', uri: 'otpauth://totp/x?secret=ABCDEFGH' });
    const user = open();
    await user.click(await screen.findByRole('button', { name: 'Set up an authenticator app' }));
    expect(screen.getByLabelText('Your password')).toHaveFocus();
    await enter(user, screen.getByLabelText('Your password'), 'correct horse');
    await user.click(screen.getByRole('button', { name: 'Continue' }));
    expect(await screen.findByText('ABCD EFGH')).toBeVisible();
    expect(screen.getByRole('img', { name: 'QR code for your authenticator app' })).toBeVisible();
    expect(server.callsOf(confirmIdentity)[0]?.body).toEqual({ current_password: 'correct horse' });

    const errors = [{ field: 'code', message: 'This code is not right.' }];
    server.on(activateTotp, refusal('invalid_field', { errors }));
    await user.type(screen.getByLabelText('Enter the code that the app shows'), '123456{Enter}');
    expect(await screen.findByText('This code is not right.')).toBeVisible();
    server.answer(activateTotp, { recovery_codes: CODES });
    server.answer(readTwoFactor, ON);
    await user.click(screen.getByRole('button', { name: 'Turn On' }));
    expect(await screen.findByText(CODES[9] ?? '')).toBeVisible();
    await user.click(screen.getByRole('button', { name: 'Copy' }));
    expect(await navigator.clipboard.readText()).toBe(CODES.join('\n'));
    await user.click(screen.getByRole('button', { name: 'I’ve saved my codes' }));
    expect(await screen.findByText('Your authenticator app is set up.')).toBeVisible();
    expect(screen.getByRole('heading', { name: 'Two-factor sign-in' })).toHaveFocus();
    expect(await screen.findByText(/2 of 10 left. Make new ones/u)).toBeVisible();
  });

  it('asks before recovery codes that nobody has kept are gone, by Escape, by the cross or with the page', async () => {
    server.answer(renewRecoveryCodes, { recovery_codes: CODES });
    server.answer(readTwoFactor, ON);
    const onClose = vi.fn();
    const confirm = vi.fn(() => false);
    vi.stubGlobal('confirm', confirm);
    renderForTest(<SecurityDialog onClose={onClose} />);
    const user = userEvent.setup();
    const leave = () => {
      const event = new Event('beforeunload', { cancelable: true });
      window.dispatchEvent(event);
      return event.defaultPrevented;
    };
    await user.click(await screen.findByRole('button', { name: 'New Codes' }));
    expect(leave()).toBe(false);
    await enter(user, screen.getByLabelText('Your password'), 'correct horse');
    await enter(user, screen.getByLabelText('Code'), '123456');
    await user.click(screen.getByRole('button', { name: 'Make New Codes' }));
    await screen.findByText(CODES[9] ?? '');

    await user.keyboard('{Escape}');
    expect(confirm).toHaveBeenCalledExactlyOnceWith('Have you saved your recovery codes? We won’t show them again.');
    expect(onClose).not.toHaveBeenCalled();
    expect(screen.getByText(CODES[0] ?? '')).toBeVisible();
    expect(leave()).toBe(true);

    confirm.mockReturnValue(true);
    await user.click(screen.getByRole('button', { name: 'Close' }));
    expect(onClose).toHaveBeenCalledOnce();
    await user.click(screen.getByRole('button', { name: 'I’ve saved my codes' }));
    expect(leave()).toBe(false);
  });

  it('says at the field that the password is wrong, and Back leads to the list', async () => {
    const errors = [{ field: 'current_password', message: 'This isn’t your current password. Try again.' }];
    server.on(confirmIdentity, refusal('invalid_field', { errors }));
    const user = open();
    await user.click(await screen.findByRole('button', { name: 'Set up an authenticator app' }));
    await user.type(screen.getByLabelText('Your password'), 'wrong{Enter}');
    expect(await screen.findByText('This isn’t your current password. Try again.')).toBeVisible();
    expect(screen.getByLabelText('Your password')).toHaveFocus();
    await user.click(screen.getByRole('button', { name: 'Back' }));
    expect(await screen.findByRole('heading', { name: 'Two-factor sign-in' })).toHaveFocus();
    expect(server.callsOf(startTotp)).toHaveLength(0);
  });
});

describe('a change while two-factor sign-in is on', () => {
  it('asks for password and second factor once, for all changes of the next minutes', async () => {
    server.answer(renewRecoveryCodes, { recovery_codes: CODES });
    server.answer(turnTwoFactorOff, undefined);
    const user = open(ON);
    await user.click(await screen.findByRole('button', { name: 'New Codes' }));
    server.on(confirmIdentity, refusal('second_factor_refused', { detail: 'This code is wrong.' }));
    await enter(user, screen.getByLabelText('Your password'), 'correct horse');
    await user.type(screen.getByLabelText('Code'), '111111{Enter}');
    expect(await screen.findByText('This code is wrong.')).toBeVisible();
    expect(screen.getByLabelText('Code')).toHaveFocus();

    server.answer(confirmIdentity, { expires_in: 600 });
    await user.click(screen.getByRole('button', { name: 'Use a recovery code' }));
    await user.type(screen.getByLabelText('Recovery code'), 'aaaa{Enter}');
    await user.click(await screen.findByRole('button', { name: 'I’ve saved my codes' }));
    expect(server.callsOf(confirmIdentity)[1]?.body).toEqual({ current_password: 'correct horse', recovery_code: 'aaaa' });

    await user.click(await screen.findByRole('button', { name: 'Turn two-factor sign-in off' }));
    expect(screen.queryByLabelText('Your password')).not.toBeInTheDocument();
    server.answer(readTwoFactor, TWO_FACTOR_OFF);
    await user.click(screen.getByRole('button', { name: 'Turn Off' }));
    expect(await screen.findByText('Two-factor sign-in is off.')).toBeVisible();
    expect(await screen.findByText(/Your password alone signs you in/u)).toBeVisible();
  });

  it('asks again when the server wants it', async () => {
    const path = removePasskey.path.replace('{id}', KEY.id);
    server.on({ ...removePasskey, path: `/${path.slice(1)}` }, refusal('confirmation_required'));
    const user = open({ ...ON, passkeys: [KEY] });
    await user.click(await screen.findByRole('button', { name: 'Remove Work laptop' }));
    await enter(user, screen.getByLabelText('Your password'), 'correct horse');
    await user.type(screen.getByLabelText('Code'), '111111{Enter}');
    await waitFor(() => expect(server.callsOf(confirmIdentity)).toHaveLength(1));
    expect(await screen.findByLabelText('Your password')).toBeVisible();
    expect(screen.getByRole('heading', { name: 'Remove the passkey Work laptop' })).toBeVisible();
  });

  it('keeps the last second factor from going alone', async () => {
    open({ ...ON, totp_since: null, passkeys: [KEY] });
    expect(await screen.findByRole('button', { name: 'Rename Work laptop' })).toBeVisible();
    expect(screen.queryByRole('button', { name: 'Remove Work laptop' })).not.toBeInTheDocument();
  });
});

describe('passkeys', () => {
  it('are added where they work', async () => {
    open();
    expect(await screen.findByRole('button', { name: 'Add a passkey' })).toBeVisible();
  });

  it.each([
    ['https://palisade.example', /Passkeys don’t work at this address/u],
    [null, /server address with https/u],
  ])('that work at %s say so', async (passkey_origin, sentence) => {
    server.answer(readTwoFactor, { ...TWO_FACTOR_OFF, passkey_origin });
    renderForTest(<SecurityDialog onClose={vi.fn()} />);
    expect(await screen.findByText(sentence)).toBeVisible();
    expect(screen.queryByRole('button', { name: 'Add a passkey' })).not.toBeInTheDocument();
  });
});
