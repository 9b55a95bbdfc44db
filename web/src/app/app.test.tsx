import { listScans } from '@palisade/contract/antivirus';
import { currentUser, login } from '@palisade/contract/auth';
import { readConfig } from '@palisade/contract/platform';
import { render, screen } from '@testing-library/react';
import userEvent from '@testing-library/user-event';
import { beforeEach, describe, expect, it } from 'vitest';
import { CONFIG, MARIA, MARIA_ACCOUNT } from '#api/fake-records.ts';
import { FakeServer, refusal, reply } from '#api/fake-server.ts';
import { endSession, startSession } from '#api/session.ts';
import { App } from './app.tsx';
import { Providers } from './providers.tsx';

let server: FakeServer;

beforeEach(() => {
  server = new FakeServer();
  server.on(readConfig, reply(readConfig, CONFIG));
  server.on(currentUser, reply(currentUser, MARIA_ACCOUNT));
  server.on(listScans, reply(listScans, []));
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
    server.on(login, reply(login, { access_token: 'token-1', user_info: MARIA }));
    const user = open();
    await user.type(screen.getByLabelText('Email'), 'maria@example.com');
    await user.type(screen.getByLabelText('Password'), 'correct horse');
    await user.click(screen.getByRole('button', { name: 'Sign In' }));
    expect(await screen.findByRole('heading', { level: 1, name: 'Antivirus' }, { timeout: 5_000 })).toBeVisible();
  });

  it('shows a stored session at once and reads its person anew', async () => {
    startSession({ access_token: 'token-1', user_info: MARIA });
    server.on(currentUser, reply(currentUser, { ...MARIA_ACCOUNT, username: 'zoe' }));
    const user = open();
    await user.click(await screen.findByRole('button', { name: 'Security User menu' }));
    // Without a layout the kit takes the button for scrolled away, and hides its menu.
    expect(await screen.findByText('zoe')).toBeInTheDocument();
  });

  it('shows the sign-in screen with the reason when the server no longer knows the session', async () => {
    startSession({ access_token: 'token-1', user_info: MARIA });
    server.on(currentUser, refusal('unauthenticated'));
    open();
    expect(await screen.findByText(/Your session has ended/u)).toBeVisible();
    expect(screen.getByRole('button', { name: 'Sign In' })).toBeVisible();
  });
});
