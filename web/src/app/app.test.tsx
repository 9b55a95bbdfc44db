import { listScans } from '@palisade/contract/antivirus';
import { currentUser, login } from '@palisade/contract/auth';
import { EVENTS_CLOSED } from '@palisade/contract/events';
import { readConfig } from '@palisade/contract/platform';
import { activateTotp, confirmIdentity, readTwoFactor, startTotp } from '@palisade/contract/two-factor';
import { act, render, screen, waitFor } from '@testing-library/react';
import userEvent from '@testing-library/user-event';
import { beforeEach, describe, expect, it } from 'vitest';
import { CONFIG, MARIA, MARIA_ACCOUNT, TWO_FACTOR_OFF } from '#api/fake-records.ts';
import { FakeServer, refusal } from '#api/fake-server.ts';
import { endSession, startSession } from '#api/session.ts';
import { enter } from '#ui/render-for-test.tsx';
import { App } from './app.tsx';
import { Providers } from './providers.tsx';

const server = FakeServer.ofEachTest();

beforeEach(() => {
  server.answer(readConfig, CONFIG);
  server.answer(currentUser, MARIA_ACCOUNT);
  server.answer(listScans, []);
  window.history.replaceState(null, '', '/antivirus');
});

function open() {
  render(
    <Providers>
      <App />
    </Providers>,
  );
  return userEvent.setup();
}

describe('the application', () => {
  it('shows the sign-in screen on any path, and the wanted screen after it', async () => {
    endSession();
    server.answer(login, { access_token: 'token-1', user_info: MARIA });
    const user = open();
    await enter(user, screen.getByLabelText('Email'), 'maria@example.com');
    await enter(user, screen.getByLabelText('Password'), 'correct horse');
    await user.click(screen.getByRole('button', { name: 'Sign In' }));
    expect(await screen.findByRole('heading', { level: 1, name: 'Antivirus' })).toBeVisible();
  });

  it('shows a stored session at once and reads its person anew', async () => {
    startSession({ access_token: 'token-1', user_info: MARIA });
    server.answer(currentUser, { ...MARIA_ACCOUNT, username: 'zoe' });
    open();
    const menu = await screen.findByRole('button', { name: 'Security User menu' });
    await waitFor(() => expect(menu).toHaveTextContent('zoe'));
  });

  it('shows who must have a second step nothing but how to set it up, then the wanted screen', async () => {
    endSession();
    server.answer(login, { access_token: 'token-1', user_info: MARIA, two_factor_setup_required: true });
    server.answer(currentUser, { ...MARIA_ACCOUNT, two_factor_setup_required: true });
    server.answer(readTwoFactor, { ...TWO_FACTOR_OFF, required: true });
    server.answer(confirmIdentity, { expires_in: 600 });
    server.answer(startTotp, { secret: 'ABCDEFGH', uri: 'otpauth://totp/x?secret=ABCDEFGH' });
    server.answer(activateTotp, { recovery_codes: ['aaaa-bbbb'] });
    const user = open();
    await enter(user, screen.getByLabelText('Email'), 'maria@example.com');
    await enter(user, screen.getByLabelText('Password'), 'correct horse');
    await user.click(screen.getByRole('button', { name: 'Sign In' }));
    expect(await screen.findByRole('heading', { name: 'Set up two-factor to continue' })).toHaveFocus();
    expect(screen.getByRole('button', { name: 'Sign Out' })).toBeVisible();
    expect(server.callsOf(listScans)).toEqual([]);
    expect(server.sockets).toEqual([]);

    await user.click(await screen.findByRole('button', { name: 'Set up an authenticator app' }));
    await user.type(screen.getByLabelText('Your password'), 'correct horse{Enter}');
    const code = await screen.findByLabelText('Enter the code that the app shows');
    server.answer(currentUser, MARIA_ACCOUNT);
    server.answer(readTwoFactor, { ...TWO_FACTOR_OFF, enabled: true, required: true });
    // The sixth digit sends it.
    await enter(user, code, '123456');
    expect(await screen.findByText('aaaa-bbbb')).toBeVisible();
    await user.click(screen.getByRole('button', { name: 'I’ve saved my codes' }));
    expect(await screen.findByRole('heading', { level: 1, name: 'Antivirus' })).toBeVisible();
    expect(server.sockets).toHaveLength(1);
  });

  it.each([
    ['a call is refused for it', () => server.on(listScans, refusal('two_factor_setup_required'))],
    ['its live connection is closed for it', undefined],
  ])('says so in the middle of it when %s', async (_, refuse) => {
    startSession({ access_token: 'token-1', user_info: MARIA });
    server.answer(readTwoFactor, { ...TWO_FACTOR_OFF, required: true });
    refuse?.();
    open();
    if (refuse === undefined) {
      await waitFor(() => expect(server.sockets).toHaveLength(1));
      act(() => server.sockets[0]?.breakOff(EVENTS_CLOSED.two_factor_setup_required));
    }
    expect(await screen.findByRole('heading', { name: 'Set up two-factor to continue' })).toBeVisible();
  });

  it('shows the sign-in screen with the reason when the server no longer knows the session', async () => {
    startSession({ access_token: 'token-1', user_info: MARIA });
    server.on(currentUser, refusal('unauthenticated'));
    open();
    expect(await screen.findByText(/Your session ended/u)).toBeVisible();
    expect(screen.getByRole('button', { name: 'Sign In' })).toBeVisible();
  });
});
