import { readConfig } from '@palisade/contract/platform';
import { completeJoined, createSession, joinSession, listJoined, listRemoteSessions } from '@palisade/contract/remote';
import { listSessionMessages } from '@palisade/contract/remote-session';
import { QueryClient } from '@tanstack/react-query';
import { act, screen, waitFor, within } from '@testing-library/react';
import userEvent from '@testing-library/user-event';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { CONFIG, MARIA } from '#api/fake-records.ts';
import { at, FakeServer, refusal, reply } from '#api/fake-server.ts';
import { startSession } from '#api/session.ts';
import { deskCountsQuery } from '#domain/conversation/desk-counts.ts';
import { renderForTest } from '#ui/render-for-test.tsx';
import { sessionOf } from './fake-sessions.ts';
import { PortalPage } from './portal-page.tsx';

const server = FakeServer.ofEachTest();
let queries: QueryClient;
const open = vi.fn();

beforeEach(() => {
  vi.spyOn(console, 'error').mockReturnValue();
  server.answer(readConfig, CONFIG);
  server.answer(listRemoteSessions, []);
  server.answer(listJoined, []);
  vi.stubGlobal('open', open);
});

afterEach(() => vi.useRealTimers());

function visit(role: 'customer' | 'support' | 'admin') {
  startSession({ access_token: 'token-1', user_info: { ...MARIA, role } });
  queries = new QueryClient({ defaultOptions: { queries: { retry: false } } });
  renderForTest(<PortalPage />, '/portal', queries);
}

describe('the portal of a customer', () => {
  it('says who chooses what is shown, and offers no way to join', async () => {
    visit('customer');
    expect(await screen.findByText('No session is open. No one can join you.')).toBeVisible();
    expect(screen.getByText('After Approve your browser asks: the whole screen, a window or a tab.')).toBeVisible();
    expect(screen.queryByRole('textbox')).not.toBeInTheDocument();
    expect(server.callsOf(listJoined)).toEqual([]);
  });

  it('finds within 5 seconds a session that was created elsewhere', async () => {
    vi.useFakeTimers();
    visit('customer');
    await act(() => vi.advanceTimersByTimeAsync(10));
    server.answer(listRemoteSessions, [sessionOf()]);
    await act(() => vi.advanceTimersByTimeAsync(5_000));
    expect(screen.getByText('K7M-4QP-9XD')).toBeVisible();
    expect(screen.getByRole('button', { name: 'Cancel' })).toBeVisible();
  });

  it('creates a session without a second portal', async () => {
    visit('customer');
    await screen.findByText('No session is open. No one can join you.');
    const session = sessionOf();
    server.on(createSession, () => {
      server.answer(listRemoteSessions, [session]);
      return reply(createSession, session);
    });
    await userEvent.click(screen.getByRole('button', { name: 'New Session' }));
    await userEvent.click(screen.getByRole('button', { name: 'Create Session' }));
    expect(await screen.findByText('Waiting for connection...')).toBeVisible();
    expect(open).not.toHaveBeenCalled();
  });
});

describe('the portal of a technician', () => {
  it.each(['support', 'admin'] as const)('lets %s join by a code however it is typed, and end the session', async (role) => {
    visit(role);
    await screen.findByText('No joined sessions');
    const session = sessionOf({ status: 'active', support_agent: 'tina', customer: '<i>maria</i>' });
    const asked = { ...session, status: 'pending' as const, phase: 'claimed' as const };
    server.answer(at(listSessionMessages, session), []);
    server.on(joinSession, () => {
      server.answer(listJoined, [asked]);
      return reply(joinSession, asked);
    });
    await userEvent.type(screen.getByLabelText('Session code'), ' k7m 4qp9xd');
    await userEvent.click(screen.getByRole('button', { name: 'Join' }));
    expect(await screen.findByText(/decide whether to let you in/u)).toBeVisible();
    expect(server.callsOf(joinSession)[0]?.body).toEqual({ session_code: 'K7M-4QP-9XD' });
    // Until the customer has said yes there is nothing to see, and nothing to end.
    const workspace = within(await screen.findByRole('region', { name: 'Session with <i>maria</i>' }));
    expect(workspace.getByText('Waiting for <i>maria</i> to approve')).toBeVisible();
    expect(workspace.queryByRole('button', { name: 'End session' })).not.toBeInTheDocument();
    // The workspace has the place of the form and of the list.
    expect(screen.queryByLabelText('Session code')).not.toBeInTheDocument();
    expect(screen.queryByRole('region', { name: 'Joined sessions' })).not.toBeInTheDocument();
    server.answer(listJoined, [session]);
    await act(() => queries.invalidateQueries());
    expect(await workspace.findByRole('button', { name: 'End session' })).toBeVisible();
    expect(screen.queryByText(/decide whether to let you in/u)).not.toBeInTheDocument();

    const completed = { ...session, status: 'completed' as const, phase: 'ended' as const, ended_at: session.started_at };
    server.on(at(completeJoined, session), () => {
      server.answer(listJoined, [completed]);
      return reply(completeJoined, completed);
    });
    await userEvent.click(workspace.getByRole('button', { name: 'End session' }));
    const list = within(await screen.findByRole('region', { name: 'Joined sessions' }));
    expect(list.getByText('<i>maria</i>')).toBeVisible();
    expect(await list.findByText('Completed', { selector: '.badge' })).toBeVisible();
    expect(list.queryByRole('button')).not.toBeInTheDocument();
  });

  it('names the customers who wait, beside the form for their code', async () => {
    visit('support');
    await screen.findByText('Enter the code that your customer gives you.');
    const counts = { mine: 0, mine_unread: 0, unassigned: 0, unassigned_waiting: 0, all: 0, snoozed: 0, closed: 0, tags: [] };
    const remote_customers = [{ customer: 'nora', since: '2026-11-20T10:00:00.000Z' }];
    act(() => void queries.setQueryData(deskCountsQuery.queryKey, { ...counts, remote_waiting: 1, remote_customers }));
    expect(await screen.findByText(/has waited for remote help since/u)).toHaveTextContent('nora');
    expect(screen.getByRole('link', { name: 'Ask nora for the code' })).toHaveAttribute('href', '/support');
  });

  it('says what is wrong with a code before asking, and what the server says about one', async () => {
    visit('support');
    const field = screen.getByLabelText('Session code');
    expect(screen.getByRole('button', { name: 'Join' })).toBeDisabled();
    await userEvent.type(field, 'K7M{Enter}');
    expect(screen.getByText('A session code has 9 letters and digits, like K7M-4QP-9XD.')).toBeVisible();
    expect(server.callsOf(joinSession)).toEqual([]);
    server.on(joinSession, refusal('too_many_requests', { detail: 'Too many wrong session codes.' }));
    await userEvent.type(field, '-4QP-9XD{Enter}');
    expect(await screen.findByText('Too many wrong session codes.')).toBeVisible();
    expect(field).toHaveValue('K7M-4QP-9XD');
  });

  it('lists further open sessions below, and says why one could not be ended', async () => {
    const session = sessionOf({ status: 'active', support_agent: 'tina' });
    server.answer(at(listSessionMessages, session), []);
    const other = sessionOf({ status: 'active', support_agent: 'tina', session_code: 'AAA-AAA-AA2' });
    server.answer(listJoined, [other, session]);
    server.answer(at(listSessionMessages, other), []);
    server.on(at(completeJoined, session), refusal('conflict', { detail: 'It has ended.' }));
    visit('support');
    await userEvent.click(await screen.findByRole('button', { name: 'End session K7M-4QP-9XD' }));
    await waitFor(() => expect(screen.getByRole('alert')).toHaveTextContent('It has ended.'));
  });
});
