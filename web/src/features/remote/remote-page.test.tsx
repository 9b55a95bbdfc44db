import { readConfig } from '@palisade/contract/platform';
import { cancelSession, completeSession, createSession, listJoined, listRemoteSessions } from '@palisade/contract/remote';
import { act, screen, waitFor, within } from '@testing-library/react';
import userEvent from '@testing-library/user-event';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { CONFIG, MARIA } from '#api/fake-records.ts';
import { at, FakeServer, page, refusal, reply } from '#api/fake-server.ts';
import { startSession } from '#api/session.ts';
import { renderForTest, textsOf } from '#ui/render-for-test.tsx';
import { sessionOf } from './fake-sessions.ts';
import { RemotePage } from './remote-page.tsx';
import { describeValidity } from './session-banner.tsx';
import { stepOf } from './session-stepper.tsx';

const server = FakeServer.ofEachTest(MARIA);
const alert = vi.fn<(message: string) => void>();
const open = vi.fn<(address: string, target: string, features: string) => null>();

beforeEach(() => {
  vi.spyOn(console, 'error').mockReturnValue();
  server.answer(readConfig, CONFIG);
  server.answer(listRemoteSessions, []);
  alert.mockReset();
  open.mockReset();
  vi.stubGlobal('alert', alert);
  vi.stubGlobal('open', open);
});

afterEach(() => vi.useRealTimers());

const history = () => within(screen.getByRole('region', { name: 'Session history' }));
const banner = () => within(screen.getByRole('region', { name: 'Open session' }));

async function startNew() {
  const user = userEvent.setup();
  await user.click(await screen.findByRole('button', { name: 'New Session' }));
  await user.click(within(screen.getByRole('dialog', { name: 'New Session' })).getByRole('button', { name: 'Create Session' }));
}

describe('the session history', () => {
  it('shows that it is loading, and that it is empty', async () => {
    renderForTest(<RemotePage />);
    expect(screen.getByRole('status', { name: 'Loading your sessions' })).toBeVisible();
    expect(await screen.findByText('No sessions yet')).toBeVisible();
    expect(banner().getByText('No session is open. No one can join you.')).toBeVisible();
  });

  it('tells of each session the code, the agent, both times and the status', async () => {
    const ended_at = '2026-11-20T10:20:00.000Z';
    server.answer(listRemoteSessions, [
      sessionOf({ session_code: 'AAA-AAA-AA2', status: 'completed', support_agent: '<b>tina</b>', ended_at }),
      sessionOf({ session_code: 'AAA-AAA-AA3', status: 'cancelled', end_reason: 'expired', ended_at }),
    ]);
    renderForTest(<RemotePage />);
    await screen.findByText('AAA-AAA-AA2');
    const [completed, cancelled] = history()
      .getAllByRole('listitem')
      .map((item) => within(item));
    expect(completed?.getByText('<b>tina</b>')).toBeVisible();
    expect(completed?.getByText('Completed')).toBeVisible();
    expect(completed?.getAllByRole('time').map((time) => time.getAttribute('datetime'))).toEqual([
      '2026-11-20T10:00:00.000Z',
      ended_at,
    ]);
    expect(cancelled?.getByText('No technician joined')).toBeVisible();
    expect(cancelled?.getByText('No one joined within 30 minutes')).toBeVisible();
    expect(cancelled?.getByText('Cancelled')).toBeVisible();
  });

  it('continues with Show more, and is narrowed by the server', async () => {
    const asked: string[] = [];
    const old = sessionOf({ session_code: 'AAA-AAA-AA2', status: 'completed' });
    server.on(listRemoteSessions, (query) => {
      asked.push(`${query.get('status') ?? 'all'} ${query.get('search') ?? ''}`);
      return query.has('cursor') || query.get('limit') === '20'
        ? page(listRemoteSessions, [old], {})
        : page(listRemoteSessions, [sessionOf({ status: 'cancelled' })], { next: old.id, total: 300 });
    });
    renderForTest(<RemotePage />);
    await userEvent.click(await screen.findByRole('button', { name: 'Show more (299 left)' }));
    await waitFor(() => expect(history().getAllByRole('listitem')).toHaveLength(2));
    await userEvent.click(history().getByRole('radio', { name: 'Completed' }));
    await userEvent.type(history().getByLabelText('Search the sessions'), 'tina');
    await waitFor(() => expect(asked.at(-1)).toBe('completed tina'));
  });
});

describe('the page of a technician', () => {
  it('begins with the customers who wait, and leaves out the steps of a customer', async () => {
    startSession({ access_token: 'token-1', user_info: { ...MARIA, role: 'support' } });
    server.answer(listJoined, []);
    renderForTest(<RemotePage />);
    expect(await screen.findByRole('link', { name: 'Enter their code' })).toHaveAttribute('href', '/portal');
    expect(await screen.findByText('No joined sessions')).toBeVisible();
    expect(screen.queryByText('No session is open. No one can join you.')).not.toBeInTheDocument();
    expect(screen.queryByRole('region', { name: 'Session history' })).not.toBeInTheDocument();
    expect(screen.getByRole('button', { name: 'New Session' })).toBeVisible();
  });
});

describe('a new session', () => {
  it('warns first and shows its code on the page, without a second window', async () => {
    renderForTest(<RemotePage />);
    await screen.findByText('No sessions yet');
    const session = sessionOf();
    server.on(createSession, () => {
      server.answer(listRemoteSessions, [session]);
      return reply(createSession, session);
    });
    await userEvent.click(await screen.findByRole('button', { name: 'New Session' }));
    expect(screen.getByText(/Share codes only with trusted support technicians/u)).toBeVisible();
    expect(open).not.toHaveBeenCalled();
    await userEvent.click(screen.getByRole('button', { name: 'Create Session' }));
    expect(await screen.findByText('Waiting for connection...')).toBeVisible();
    expect(banner().getByText('K7M-4QP-9XD')).toBeVisible();
    expect(banner().getByText('Valid for 20 more minutes.')).toBeVisible();
    expect(banner().getByText('Did someone call you and ask for it? It’s a scam. Press Cancel.')).toBeVisible();
    expect(banner().getByRole('link', { name: 'Open Support Chat' })).toBeVisible();
    expect(open).not.toHaveBeenCalled();
    expect(server.callsOf(createSession)[0]?.body).toBeUndefined();
    await waitFor(() => expect(screen.queryByRole('dialog')).not.toBeInTheDocument());
    expect(alert).not.toHaveBeenCalled();
    expect(screen.queryByRole('button', { name: 'New Session' })).not.toBeInTheDocument();
  });

  it('opens the portal in a second window, by the press itself, when the person asks for it', async () => {
    server.on(createSession, () => {
      expect(open).toHaveBeenCalledTimes(1);
      return reply(createSession, sessionOf());
    });
    renderForTest(<RemotePage />);
    await screen.findByText('No sessions yet');
    await userEvent.click(await screen.findByRole('button', { name: 'New Session' }));
    await userEvent.click(screen.getByRole('switch', { name: 'Also open the portal in a new window' }));
    await userEvent.click(screen.getByRole('button', { name: 'Create Session' }));
    await waitFor(() => expect(open).toHaveBeenCalledWith(new URL('/portal', window.location.href).href, '_blank', 'noopener'));
  });

  it('that cannot be created opens the portal all the same, and an alert says to visit it', async () => {
    server.on(createSession, refusal('internal'));
    renderForTest(<RemotePage />);
    await startNew();
    await waitFor(() => expect(alert).toHaveBeenCalledTimes(1));
    expect(alert.mock.calls[0]?.[0]).toMatch(/visit the portal.*\/portal$/u);
    expect(open).toHaveBeenCalledTimes(1);
    expect(screen.queryByText('Waiting for connection...')).not.toBeInTheDocument();
  });

  it('is not created when the person thinks better of it', async () => {
    renderForTest(<RemotePage />);
    await userEvent.click(await screen.findByRole('button', { name: 'New Session' }));
    await userEvent.click(screen.getByRole('button', { name: 'Not now' }));
    expect(screen.queryByRole('dialog')).not.toBeInTheDocument();
    expect(server.callsOf(createSession)).toEqual([]);
    expect(open).not.toHaveBeenCalled();
  });
});

describe('the banner', () => {
  it('copies the code', async () => {
    server.answer(listRemoteSessions, [sessionOf()]);
    const user = userEvent.setup();
    renderForTest(<RemotePage />);
    await user.click(await screen.findByRole('button', { name: 'Copy code' }));
    expect(await screen.findByRole('button', { name: 'Copied' })).toBeVisible();
    expect(await navigator.clipboard.readText()).toBe('K7M-4QP-9XD');
  });

  it('cancels a session that waits', async () => {
    const session = sessionOf();
    server.answer(listRemoteSessions, [session]);
    renderForTest(<RemotePage />);
    const cancelled = {
      ...session,
      status: 'cancelled' as const,
      end_reason: 'cancelled' as const,
      ended_at: session.started_at,
    };
    server.on(at(cancelSession, session), () => {
      server.answer(listRemoteSessions, [cancelled]);
      return reply(cancelSession, cancelled);
    });
    await userEvent.click(await screen.findByRole('button', { name: 'Cancel' }));
    expect(await history().findByText('You cancelled it')).toBeVisible();
    expect(screen.queryByText('Waiting for connection...')).not.toBeInTheDocument();
    await waitFor(() => expect(screen.getByRole('heading', { level: 1 })).toHaveFocus());
  });

  it.each([
    [{}, 'Code'],
    [{ phase: 'claimed' }, 'Approve'],
    [{ status: 'active', view: 'screen', share: 'stopped' }, 'Share'],
    [{ status: 'active', view: 'screen', share: 'running' }, 'Work'],
    [{ status: 'active', view: 'talk' }, 'Work'],
  ] as const)('of %j stands at the step %s', (parts, step) => {
    expect(stepOf(sessionOf(parts))).toBe(step);
  });

  it('tells its steps once: as a guide without a session, as the present one of five with one', async () => {
    server.answer(listRemoteSessions, []);
    const { unmount } = renderForTest(<RemotePage />);
    expect(await screen.findByRole('region', { name: 'How it works' })).toBeVisible();
    expect(screen.queryByRole('list', { name: 'Steps of a session' })).not.toBeInTheDocument();
    unmount();
    server.answer(listRemoteSessions, [sessionOf()]);
    renderForTest(<RemotePage />);
    const steps = within(await screen.findByRole('list', { name: 'Steps of a session' }));
    const current = steps.getAllByRole('listitem').filter((item) => item.getAttribute('aria-current') === 'step');
    expect(textsOf(current)).toEqual(['1Code']);
    expect(screen.queryByRole('region', { name: 'How it works' })).not.toBeInTheDocument();
  });

  it('says why a session could not be ended', async () => {
    const session = sessionOf({ status: 'active', support_agent: 'tina', joined_at: '2026-11-20T10:05:00.000Z' });
    server.answer(listRemoteSessions, [session]);
    server.on(at(completeSession, session), refusal('conflict', { detail: 'It has ended already.' }));
    renderForTest(<RemotePage />);
    await userEvent.click(await screen.findByRole('button', { name: 'End session' }));
    expect(await banner().findByRole('alert')).toHaveTextContent('It has ended already.');
  });

  // proves: product-3.3-1
  it('follows a session every 5 seconds: from waiting to the technician who joined', async () => {
    const session = sessionOf();
    server.answer(listRemoteSessions, [session]);
    vi.useFakeTimers();
    renderForTest(<RemotePage />);
    await act(() => vi.advanceTimersByTimeAsync(10));
    expect(screen.getByText('Waiting for connection...')).toBeVisible();
    const joined = { ...session, status: 'active' as const, support_agent: 'tina', joined_at: session.started_at };
    server.answer(listRemoteSessions, [joined]);
    await act(() => vi.advanceTimersByTimeAsync(5_000));
    expect(screen.queryByText('Waiting for connection...')).not.toBeInTheDocument();
    expect(banner().getByRole('heading')).toHaveTextContent('tina has joined your session');
    // The session and the history, and each once more: nothing asks for the history that stays as it was.
    expect(server.callsOf(listRemoteSessions)).toHaveLength(4);
    await act(() => vi.advanceTimersByTimeAsync(10_000));
    expect(server.callsOf(listRemoteSessions)).toHaveLength(6);
  });

  it.each([
    [30 * 60_000, 'Valid for 30 more minutes.'],
    [119_000, 'Valid for 1 more minute.'],
    [59_000, 'Valid for less than a minute.'],
    [0, 'The code has expired.'],
    [-1, 'The code has expired.'],
  ])('with %i ms left says %s', (left, words) => {
    const now = Date.parse('2026-11-20T10:00:00.000Z');
    expect(describeValidity(new Date(now + left).toISOString(), now)).toBe(words);
  });
});
