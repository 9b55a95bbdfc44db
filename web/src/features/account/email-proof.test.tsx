import { currentUser, proveEmail, sendEmailProof } from '@palisade/contract/auth';
import { readConfig } from '@palisade/contract/platform';
import { readTwoFactor } from '@palisade/contract/two-factor';
import { act, screen, waitFor, within } from '@testing-library/react';
import userEvent from '@testing-library/user-event';
import { beforeEach, describe, expect, it } from 'vitest';
import { refreshConfig } from '#api/config.ts';
import { CONFIG, MARIA, MARIA_ACCOUNT, TWO_FACTOR_OFF } from '#api/fake-records.ts';
import { FakeServer, refusal } from '#api/fake-server.ts';
import { currentSession, startSession } from '#api/session.ts';
import { renderForTest } from '#ui/render-for-test.tsx';
import { ConfirmEmailPage } from './confirm-email-page.tsx';
import { EmailBanner } from './email-banner.tsx';
import { RequiredFactorPage } from './required-factor-page.tsx';
import { TwoFactorPart } from './two-factor-part.tsx';

const UNPROVEN = { access_token: 'token-1', user_info: MARIA, email_unproven: true as const };
const CODE = 'a'.repeat(43);

const server = FakeServer.ofEachTest();

beforeEach(() => {
  server.answer(readConfig, { ...CONFIG, exposure: 'public', reset_delivery: 'email' });
  server.answer(readTwoFactor, TWO_FACTOR_OFF);
  server.answer(currentUser, MARIA_ACCOUNT);
  startSession(UNPROVEN);
  window.location.hash = '';
});

describe('the banner', () => {
  it('says what waits, takes the code of the mail, and the person is confirmed', async () => {
    server.answer(proveEmail, { success: true });
    renderForTest(<EmailBanner />);
    const banner = screen.getByRole('region', { name: 'Confirm your email address' });
    expect(banner).toHaveTextContent(
      'Until then two-factor sign-in, plan requests, remote sessions, and emails to maria@example.com are held back.',
    );
    const user = userEvent.setup();
    await user.click(within(banner).getByRole('button', { name: 'Enter the code' }));
    const dialog = within(screen.getByRole('dialog', { name: 'Confirm your email address' }));
    expect(dialog.getByRole('button', { name: 'Confirm' })).toBeDisabled();
    await user.type(dialog.getByLabelText('Confirmation code'), ` ${CODE} `);
    await user.click(dialog.getByRole('button', { name: 'Confirm' }));
    await waitFor(() => expect(currentSession()?.email_unproven).toBeUndefined());
    expect(server.callsOf(proveEmail)[0]?.body).toEqual({ token: CODE });
  });

  it('says at the field that a code is worth nothing, and sends another mail, or when it will', async () => {
    const message = 'This code is wrong, expired, or for another account. Get a new one.';
    server.on(proveEmail, refusal('invalid_field', { errors: [{ field: 'token', message }] }));
    server.answer(sendEmailProof, { success: true });
    renderForTest(<EmailBanner />);
    const user = userEvent.setup();
    await user.click(screen.getByRole('button', { name: 'Enter the code' }));
    await user.type(screen.getByLabelText('Confirmation code'), 'wrong');
    await user.click(screen.getByRole('button', { name: 'Confirm' }));
    expect(await screen.findByText(message)).toBeVisible();
    await user.click(screen.getByRole('button', { name: 'Resend email' }));
    expect(await screen.findByText('Another email is on its way.')).toBeVisible();
    server.on(sendEmailProof, refusal('too_many_requests', { detail: 'Confirmation mails were asked for too often.' }));
    await user.click(screen.getByRole('button', { name: 'Resend email' }));
    expect(await screen.findByText('Confirmation mails were asked for too often.')).toBeVisible();
    expect(currentSession()?.email_unproven).toBe(true);
  });

  it('sends to the administrator where mails wait with them', async () => {
    server.answer(readConfig, { ...CONFIG, exposure: 'public', reset_delivery: 'outbox' });
    renderForTest(<EmailBanner />);
    await act(refreshConfig);
    await userEvent.click(screen.getByRole('button', { name: 'Enter the code' }));
    expect(screen.getByText(/wait with your administrator/u)).toBeVisible();
    server.answer(readConfig, { ...CONFIG, exposure: 'public', reset_delivery: 'outbox', administrator: 'named_email' });
    await act(refreshConfig);
    expect(screen.getByText(/"palisade outbox" prints it there/u)).toBeVisible();
    server.answer(sendEmailProof, { success: true });
    await userEvent.click(screen.getByRole('button', { name: 'Resend email' }));
    expect(await screen.findByText('Another code waits on the server.')).toBeVisible();
  });
});

it('the page of the link has the code in its field, and says when all is done', async () => {
  window.location.hash = `#${CODE}`;
  server.answer(proveEmail, { success: true });
  renderForTest(<ConfirmEmailPage />);
  expect(screen.getByLabelText('Confirmation code')).toHaveValue(CODE);
  await userEvent.click(screen.getByRole('button', { name: 'Confirm' }));
  expect(await screen.findByText(/Your email address is confirmed/u)).toBeVisible();
});

describe('parts that are held back', () => {
  it('says so in the place of two-factor sign-in', async () => {
    renderForTest(<TwoFactorPart told={undefined} onTask={() => undefined} />);
    expect(screen.getByText(/You can set up two-factor sign-in after you confirm your email address/u)).toBeVisible();
    expect(await screen.findByText('Off')).toBeVisible();
    expect(screen.queryByRole('button', { name: 'Set up an authenticator app' })).not.toBeInTheDocument();
    act(() => startSession({ ...UNPROVEN, email_unproven: undefined }));
    expect(await screen.findByRole('button', { name: 'Set up an authenticator app' })).toBeVisible();
  });

  it('comes before the second factor that somebody must have', async () => {
    server.answer(readTwoFactor, { ...TWO_FACTOR_OFF, required: true });
    const session = { ...UNPROVEN, two_factor_setup_required: true as const };
    renderForTest(<RequiredFactorPage session={session} onSignOut={() => undefined} />);
    expect(await screen.findByLabelText('Confirmation code')).toBeVisible();
    expect(screen.queryByRole('button', { name: 'Set up an authenticator app' })).not.toBeInTheDocument();
  });
});
