import { listOutbox, type Mail, passOnMail, readMailServer } from '@palisade/contract/mail';
import { screen, within } from '@testing-library/react';
import userEvent from '@testing-library/user-event';
import { beforeEach, expect, it, vi } from 'vitest';
import { MARIA } from '#api/fake-records.ts';
import { FakeServer, refusal, reply } from '#api/fake-server.ts';
import { renderForTest } from '#ui/render-for-test.tsx';
import { OutboxPage } from './outbox-page.tsx';

const server = FakeServer.ofEachTest({ ...MARIA, role: 'admin' });

const WAITING: Mail = {
  id: '01930000-0000-7000-8000-000000000201',
  recipient: 'maria@example.com',
  subject: 'Palisade: Reset your password',
  kind: 'proof',
  is_urgent: true,
  text: 'Hello <b>maria</b>,\n\nyour token',
  status: 'waiting',
  created_at: '2026-11-20T10:00:00.000Z',
  sent_at: null,
  attempts: 0,
  last_error: null,
};

beforeEach(() => {
  server.answer(readMailServer, { is_connected: false, sender: null });
});

it('shows each mail as it is, its text on demand', async () => {
  const sent: Mail = {
    ...WAITING,
    id: '01930000-0000-7000-8000-000000000202',
    status: 'sent',
    text: null,
    attempts: 1,
    sent_at: WAITING.created_at,
    is_urgent: false,
  };
  const failed: Mail = {
    ...WAITING,
    id: '01930000-0000-7000-8000-000000000203',
    status: 'failed',
    attempts: 2,
    last_error: '550 no',
  };
  const notice: Mail = { ...WAITING, id: '01930000-0000-7000-8000-000000000204', kind: 'notice', is_urgent: false, text: 'News' };
  server.answer(listOutbox, [WAITING, sent, failed, notice]);
  renderForTest(<OutboxPage />);
  const rows = within(await screen.findByRole('list', { name: 'Emails' })).getAllByRole('listitem');
  expect(rows.map((row) => within(row).getByText(/^(?:Urgent|Not sent|Sent|Failed)$/u).dataset['tone'])).toEqual([
    'attention',
    'danger',
    'safe',
    'plain',
  ]);
  // The actions on an urgent email are there without its text.
  expect(screen.getAllByRole('button', { name: 'Copy text' }).map((button) => button.closest('details') !== null)).toEqual([
    false,
    false,
    true,
  ]);
  expect(screen.getByText('2 emails are urgent: people wait for them.')).toBeVisible();
  expect(screen.getAllByText(/Hello <b>maria<\/b>,/u)).toHaveLength(2);
  expect(rows[2]).toHaveTextContent('Its text is not kept');
  expect(rows[1]).toHaveTextContent('2 attempts, the last one answered: 550 no');
  await userEvent.setup().click(within(rows[0] ?? document.body).getByText(WAITING.subject));
  expect(rows[0]?.querySelector('details')).toHaveAttribute('open');
});

it('says that there is nothing, and why a list is not there', async () => {
  vi.spyOn(console, 'error').mockReturnValue();
  server.on(listOutbox, refusal('internal', { detail: 'The server is in trouble.' }));
  renderForTest(<OutboxPage />);
  const alert = await screen.findByRole('alert');
  expect(alert).toHaveTextContent('The server is in trouble.');
  server.answer(listOutbox, []);
  await userEvent.setup().click(within(alert).getByRole('button', { name: 'Retry' }));
  expect(await screen.findByText('No emails yet')).toBeVisible();
});

it('is copied and marked as passed on, after a question', async () => {
  server.answer(listOutbox, [WAITING]);
  const passed: Mail = { ...WAITING, status: 'passed_on', text: null, sent_at: WAITING.created_at };
  server.on(passOnMail, () => {
    server.answer(listOutbox, [passed]);
    return reply(passOnMail, passed);
  });
  const confirm = vi.spyOn(window, 'confirm').mockReturnValueOnce(false).mockReturnValueOnce(true);
  renderForTest(<OutboxPage />);
  const user = userEvent.setup();
  await user.click(await screen.findByRole('button', { name: 'Copy text' }));
  expect(await screen.findByText('The email was copied.')).toBeInTheDocument();
  await user.click(screen.getByRole('button', { name: 'Mark as passed on' }));
  expect(screen.getByText('Urgent')).toBeVisible();
  await user.click(screen.getByRole('button', { name: 'Mark as passed on' }));
  expect(await screen.findByText('Passed on')).toBeVisible();
  expect(confirm).toHaveBeenCalledTimes(2);
  expect(screen.getByText(/^You passed it on\./u)).toBeInTheDocument();
});

it('says what it means that no email goes out and how to connect a mail server, or where they come from', async () => {
  server.answer(listOutbox, []);
  const { unmount } = renderForTest(<OutboxPage />);
  expect(await screen.findByRole('heading', { name: 'No email goes out' })).toBeVisible();
  await userEvent.click(screen.getByRole('button', { name: 'Connect a mail server' }));
  expect(screen.getByText(/^SMTP_URL=/u)).toBeVisible();
  expect(screen.getByRole('heading', { name: 'Connect a mail server' })).toHaveFocus();
  expect(screen.queryByRole('button', { name: 'Connect a mail server' })).not.toBeInTheDocument();
  unmount();
  server.answer(readMailServer, { is_connected: true, sender: 'no-reply@example.com' });
  renderForTest(<OutboxPage />);
  expect(await screen.findByRole('region', { name: 'Emails go out' })).toHaveTextContent('They come from no-reply@example.com.');
  expect(screen.queryByText(/^SMTP_URL=/u)).not.toBeInTheDocument();
});
