import { readConfig } from '@palisade/contract/platform';
import { listRemoteSessions, type RemoteSession } from '@palisade/contract/remote';
import { listSessionFiles } from '@palisade/contract/remote-files';
import {
  approveSession,
  declineSession,
  exportSessionAudit,
  listSessionAudit,
  listSessionMessages,
  rateSession,
  readSessionChanges,
  reportSession,
  writeSessionMessage,
} from '@palisade/contract/remote-session';
import { cleanup, screen, waitFor, within } from '@testing-library/react';
import userEvent from '@testing-library/user-event';
import { beforeEach, describe, expect, it, vi } from 'vitest';
import { CONFIG, MARIA } from '#api/fake-records.ts';
import { at, FakeServer, refusal, reply } from '#api/fake-server.ts';
import { renderForTest, textsOf } from '#ui/render-for-test.tsx';
import { sessionOf } from './fake-sessions.ts';
import { RemotePage } from './remote-page.tsx';

const server = FakeServer.ofEachTest(MARIA);
let picker: ReturnType<typeof vi.fn<() => Promise<never>>>;

const banner = () => within(screen.getByRole('region', { name: 'Open session' }));
beforeEach(() => {
  vi.spyOn(console, 'error').mockReturnValue();
  server.answer(readConfig, CONFIG);
  vi.stubGlobal('isSecureContext', true);
  picker = vi.fn(async () => {
    throw new DOMException('Permission denied', 'NotAllowedError');
  });
  Object.defineProperty(navigator, 'mediaDevices', { configurable: true, value: { getDisplayMedia: picker } });
});

function visit(session: RemoteSession) {
  server.answer(listRemoteSessions, [session]);
  server.answer(at(listSessionMessages, session), []);
  server.answer(at(readSessionChanges, session), []);
  server.answer(at(listSessionFiles, session), []);
  renderForTest(<RemotePage />);
}

const technician = {
  name: '<i>tina</i>',
  provider: 'Harbour IT',
  staff_since: '2024-03-02T10:00:00.000Z',
  asked_at: '2026-11-20T10:01:00.000Z',
};
const asked = () =>
  sessionOf({
    phase: 'claimed',
    support_agent: '<i>tina</i>',
    technician,
    due_at: new Date(Date.now() + 290_000).toISOString(),
    due_reason: 'no_answer',
  });

describe('a technician who asks', () => {
  it('is named, with whom they work for, since when, and what they will be able to do', async () => {
    visit(asked());
    expect(await screen.findByRole('heading', { name: '<i>tina</i> has joined your session' })).toBeVisible();
    expect(banner().getByText('Harbour IT')).toBeVisible();
    expect(banner().getByText(/On its staff since .*2024/u)).toBeVisible();
    expect(banner().getByText('Point and draw on its picture')).toBeVisible();
    expect(banner().getByText('Press or type anything, unless you allow it later')).toBeVisible();
    expect(banner().getByText(/request expires in/u)).toHaveTextContent(/4:(?:50|4\d)/u);
    expect(picker).not.toHaveBeenCalled();
  });

  it('is declined', async () => {
    const session = asked();
    visit(session);
    const declined = { ...session, status: 'cancelled' as const, phase: 'ended' as const, end_reason: 'declined' as const };
    server.on(at(declineSession, session), () => {
      server.answer(listRemoteSessions, [declined]);
      return reply(declineSession, declined);
    });
    await userEvent.click(await screen.findByRole('button', { name: 'Decline' }));
    expect(await screen.findByText('No session is open. No one can join you.')).toBeVisible();
    expect(await screen.findByText('You declined')).toBeVisible();
  });

  it('waits on when the browser is told not to share', async () => {
    visit(asked());
    await userEvent.click(await screen.findByRole('button', { name: 'Approve' }));
    expect(await banner().findByRole('alert')).toHaveTextContent('Press Approve to try again.');
    expect(screen.getByRole('button', { name: 'Approve' })).toBeEnabled();
  });

  it('is told why an answer came too late', async () => {
    const session = asked();
    visit(session);
    server.on(at(approveSession, session), refusal('conflict', { detail: 'This session is over.' }));
    await userEvent.click(await screen.findByRole('button', { name: 'Approve without a screen' }));
    expect(await banner().findByRole('alert')).toHaveTextContent('This session is over.');
  });
});

describe('a browser that cannot share', () => {
  // proves: remote-18
  it('says so, and offers to talk and to send a photo', async () => {
    Object.defineProperty(navigator, 'mediaDevices', { configurable: true, value: {} });
    const session = asked();
    visit(session);
    expect(await screen.findByText(/This browser cannot share a screen; on phones none can/u)).toBeVisible();
    expect(screen.queryByRole('button', { name: 'Approve' })).not.toBeInTheDocument();
    const running = { ...session, status: 'active' as const, phase: 'active' as const, view: 'talk' as const };
    server.on(at(approveSession, session), () => {
      server.answer(listRemoteSessions, [running]);
      return reply(approveSession, running);
    });
    await userEvent.click(screen.getByRole('button', { name: 'Approve without a screen' }));
    expect(await screen.findByRole('link', { name: 'Send a photo in the support chat' })).toHaveAttribute('href', '/chat');
    expect(server.callsOf(at(approveSession, session))[0]?.body).toEqual({ view: 'talk' });
    // The button was far below of who is connected, and of the way to end it.
    expect(screen.getByRole('heading', { name: '<i>tina</i> has joined your session' })).toHaveFocus();
    expect(screen.getByRole('log', { name: 'Messages of the session' })).toBeVisible();
  });

  it('names the page that was not served securely', async () => {
    vi.stubGlobal('isSecureContext', false);
    visit(asked());
    expect(await screen.findByText(/not opened over a secure connection/u)).toBeVisible();
  });
});

describe('a session that runs', () => {
  const running = () =>
    sessionOf({ status: 'active', support_agent: 'tina', view: 'screen', share: 'running', is_technician_here: true });

  // proves: remote-17
  it('offers after a reload to share again', async () => {
    visit(running());
    expect(await screen.findByRole('button', { name: 'Share again' })).toBeVisible();
    expect(screen.getByText('The technician sees nothing of your screen')).toBeVisible();
    expect(screen.queryByText(/or the session ends/u)).not.toBeInTheDocument();
  });

  it.each([
    ['share_stopped', true],
    ['technician_gone', false],
  ] as const)('that ends because of %s asks to share in time: %s', async (due_reason, asks) => {
    visit({ ...running(), due_reason, due_at: new Date(Date.now() + 290_000).toISOString() });
    expect(await screen.findByRole('button', { name: 'Share again' })).toBeVisible();
    expect(screen.queryByText(/^Share again, or the session ends in/u) !== null).toBe(asks);
  });

  it('has a chat that loses nothing', async () => {
    const session = running();
    visit(session);
    server.on(at(writeSessionMessage, session), refusal('conflict', { detail: 'It is over.' }));
    await userEvent.type(await screen.findByRole('textbox', { name: 'Message' }), 'It says <b>Error 7</b>{Enter}');
    const log = within(screen.getByRole('log', { name: 'Messages of the session' }));
    expect(await log.findByRole('alert')).toHaveTextContent('Your message was not sent. It is over.');
    expect(log.getByText('It says <b>Error 7</b>')).toBeVisible();
    const { body, headers } = server.callsOf(at(writeSessionMessage, session))[0] ?? {};
    expect(body).toMatchObject({ message: 'It says <b>Error 7</b>' });
    const name = headers?.get('idempotency-key');
    expect(name).toMatch(/^[\da-f-]{36}$/u);
    await userEvent.click(log.getByRole('button', { name: 'Retry' }));
    // The same name, so that the server takes it once.
    await waitFor(() => {
      const again = server.callsOf(at(writeSessionMessage, session))[1];
      expect([again?.body, again?.headers.get('idempotency-key')]).toEqual([body, name]);
    });
  });
});

describe('a session that has just ended', () => {
  const ended = () =>
    sessionOf({
      status: 'completed',
      support_agent: 'tina',
      end_reason: 'ended_by_technician',
      approved_at: '2026-11-20T10:02:00.000Z',
      ended_at: new Date().toISOString(),
    });

  it('says of one that was declined that nothing was seen', async () => {
    visit({ ...ended(), status: 'cancelled', end_reason: 'declined', approved_at: null });
    expect(await screen.findByRole('region', { name: 'tina wasn’t let in' })).toHaveTextContent(
      'You declined. They saw nothing of your device. Report anything suspicious.',
    );
  });

  it('shows what changed on a device, as text', async () => {
    const session = ended();
    visit(session);
    const times = { from: session.started_at, to: session.started_at };
    const device = (place: number) => ({ device_id: `01930000-0000-7000-8000-00000000000${place}` });
    const nothing = { from: null, to: null, changes: [], more: 0, unread: [] };
    server.answer(at(readSessionChanges, session), [
      {
        ...device(1),
        device_name: 'laptop',
        state: 'measured',
        ...times,
        more: 3,
        unread: ['firewall'],
        changes: [
          { thing: 'account', how: 'added', name: '<b>helper</b>' },
          { thing: 'program', how: 'removed', name: 'clamav' },
        ],
      },
      { ...nothing, ...device(2), device_name: 'tower', state: 'measured', ...times },
      { ...nothing, ...device(3), device_name: 'old one', state: 'not_measured' },
      { ...nothing, ...device(4), device_name: 'asleep', state: 'awaited' },
    ]);
    const list = within(await screen.findByRole('list', { name: 'Changed on laptop' }));
    expect(textsOf(list.getAllByRole('listitem'))).toEqual([
      'New user account <b>helper</b>',
      'Removed program clamav',
      'And 3 more.',
    ]);
    const part = screen.getByRole('region', { name: 'What changed on your device' });
    for (const words of [
      'We couldn’t check: table of firewall rules.',
      'We found no changes on tower.',
      'We couldn’t check old one',
      'asleep hasn’t reported changes yet.',
    ])
      expect(part).toHaveTextContent(words);
  });

  it('says that nothing was measured where no device was there', async () => {
    const session = ended();
    visit(session);
    expect(await screen.findByText(/^We couldn’t check: none of your devices/u)).toBeVisible();
  });

  it('is rated', async () => {
    const session = ended();
    visit(session);
    server.answer(at(rateSession, session), { ...session, rating: 2 });
    await userEvent.click(await screen.findByRole('radio', { name: '2 of 5: Bad' }));
    await userEvent.type(screen.getByRole('textbox', { name: /What went well/u }), 'Slow');
    await userEvent.click(screen.getByRole('button', { name: 'Send rating' }));
    expect(await screen.findByText('Thank you. You rated this help 2 of 5 (bad).')).toBeVisible();
    expect(server.callsOf(at(rateSession, session))[0]?.body).toEqual({ rating: 2, comment: 'Slow' });
  });

  it('is reported', async () => {
    const session = ended();
    visit(session);
    const reported = { ...session, reported_at: new Date().toISOString() };
    server.on(at(reportSession, session), () => {
      server.answer(listRemoteSessions, [reported]);
      return reply(reportSession, reported);
    });
    await userEvent.click(await screen.findByRole('button', { name: 'Report this session' }));
    await userEvent.selectOptions(screen.getByRole('combobox'), 'They asked for a password or a code');
    await userEvent.click(screen.getByRole('button', { name: 'Send report' }));
    expect(await screen.findByText(/You reported this session/u)).toBeVisible();
    expect(server.callsOf(at(reportSession, session))[0]?.body).toEqual({ reason: 'asked_for_password', comment: '' });
  });

  it('shows what was recorded, and saves it', async () => {
    const session = ended();
    visit(session);
    server.answer(at(listSessionAudit, session), [
      { seq: 1, at: session.started_at, kind: 'remote_session_approved', by: 'self', address: null, client: null, details: {} },
    ]);
    server.on(at(exportSessionAudit, session), refusal('internal', { detail: 'Not now.' }));
    await userEvent.click(await screen.findByRole('button', { name: 'What was recorded' }));
    const dialog = within(await screen.findByRole('dialog', { name: `Session ${session.session_code}` }));
    expect(await dialog.findByText('Remote session approved')).toBeVisible();
    await userEvent.click(dialog.getByRole('button', { name: 'Save the record as CSV' }));
    expect(await dialog.findByRole('alert')).toHaveTextContent('Not now.');
  });

  it('is dismissed, and stays away after a reload', async () => {
    const session = ended();
    visit(session);
    await userEvent.click(await screen.findByRole('button', { name: 'Dismiss' }));
    expect(screen.queryByText('Your session with tina is over')).not.toBeInTheDocument();
    expect(screen.getByRole('heading', { level: 1 })).toHaveFocus();
    cleanup();
    visit(session);
    expect(await screen.findByText('No session is open. No one can join you.')).toBeVisible();
    expect(screen.queryByText('Your session with tina is over')).not.toBeInTheDocument();
    cleanup();
    // The next one is asked about.
    visit(ended());
    expect(await screen.findByText('Your session with tina is over')).toBeVisible();
  });

  it('is not asked about once it is long over', async () => {
    visit({ ...ended(), ended_at: '2026-11-20T10:00:00.000Z' });
    await userEvent.click(await screen.findByRole('button', { name: /^Details of/u }));
    expect(screen.queryByText('Your session with tina is over')).not.toBeInTheDocument();
    expect(await screen.findByRole('dialog')).toBeVisible();
  });
});
