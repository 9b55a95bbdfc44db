import {
  endOverseenSession,
  listOverseenAudit,
  listOverseenSessions,
  type OverseenSession,
} from '@palisade/contract/remote-staff';
import { QueryClient } from '@tanstack/react-query';
import { act, screen, waitFor, within } from '@testing-library/react';
import userEvent from '@testing-library/user-event';
import { expect, it } from 'vitest';
import { MARIA } from '#api/fake-records.ts';
import { at, FakeServer, page, refusal, reply } from '#api/fake-server.ts';
import { deskCountsQuery } from '#domain/conversation/desk-counts.ts';
import { renderForTest } from '#ui/render-for-test.tsx';
import { sessionOf } from './fake-sessions.ts';
import { OverseenPage } from './overseen-page.tsx';

const server = FakeServer.ofEachTest({ ...MARIA, role: 'admin' });

/** Half an hour with somebody of the staff; what a test is about, it states itself. */
function overseen(parts: Partial<OverseenSession> = {}): OverseenSession {
  const {
    session_code: _code,
    expires_at: _expires,
    reported_at: _reported,
    notes: _notes,
    ...session
  } = sessionOf({
    status: 'completed',
    end_reason: 'ended_by_technician',
    support_agent: 'tina',
    customer: '<b>maria</b>',
    approved_at: '2026-11-20T10:01:00.000Z',
    joined_at: '2026-11-20T10:00:30.000Z',
    ended_at: '2026-11-20T10:31:00.000Z',
  });
  return { ...session, report: null, ...parts };
}

it('says who looked at whose screen, how long and how it ended, and what was reported', async () => {
  const report = { at: '2026-11-20T10:32:00.000Z', reason: 'asked_for_money', comment: 'For <i>gift cards</i>' } as const;
  const session = overseen({ report });
  server.on(listOverseenSessions, page(listOverseenSessions, [session, overseen()], { total: 2 }));
  server.answer(at(listOverseenAudit, session), [
    {
      seq: 1,
      at: session.started_at,
      kind: 'remote_session_approved',
      by: 'self',
      address: null,
      client: null,
      details: {},
    },
  ]);
  renderForTest(<OverseenPage />);
  const [row] = await within(await screen.findByRole('list', { name: 'Sessions' })).findAllByRole('listitem');
  if (!row) throw new Error('There is no row.');
  for (const words of ['tina with <b>maria</b>', 'Ended by the technician', '30 minutes', 'They asked for money or gift cards'])
    expect(row).toHaveTextContent(words);
  expect(screen.getByText('2 sessions')).toBeVisible();
  // The answer stands before the list.
  expect(await screen.findByRole('heading', { name: 'Customers have reported 2 sessions.' })).toBeVisible();

  await userEvent.click(within(row).getByRole('button', { name: 'Details of tina with <b>maria</b>' }));
  const dialog = within(await screen.findByRole('dialog', { name: 'Session of <b>maria</b>' }));
  expect(await dialog.findByText('Remote session approved')).toBeVisible();
  expect(dialog.getByText('For <i>gift cards</i>')).toBeVisible();
});

it('ends one that runs, and says why it could not', async () => {
  const running = overseen({ status: 'active', phase: 'active', end_reason: null, ended_at: null });
  server.answer(listOverseenSessions, [running]);
  server.on(at(endOverseenSession, running), refusal('conflict', { detail: 'It has ended already.' }));
  renderForTest(<OverseenPage />);
  await userEvent.click(await screen.findByRole('button', { name: 'End session of tina with <b>maria</b>' }));
  expect(await screen.findByRole('alert')).toHaveTextContent('It has ended already.');

  const ended = overseen({ id: running.id, end_reason: 'ended_by_admin' });
  server.on(at(endOverseenSession, running), () => {
    server.answer(listOverseenSessions, [ended]);
    return reply(endOverseenSession, ended);
  });
  await userEvent.click(screen.getByRole('button', { name: 'End session of tina with <b>maria</b>' }));
  expect(await screen.findByText('Ended by an administrator', { selector: 'span' })).toBeVisible();
  expect(screen.queryByRole('button', { name: /^End the session/u })).not.toBeInTheDocument();
});

it('narrows the list by state, end, report and name, and leads back', async () => {
  server.answer(listOverseenSessions, [overseen()]);
  renderForTest(<OverseenPage />);
  await userEvent.click(await screen.findByRole('radio', { name: 'Completed' }));
  await userEvent.selectOptions(screen.getByRole('combobox', { name: 'End' }), 'The four-hour limit was reached');
  await userEvent.selectOptions(screen.getByRole('combobox', { name: 'Reports' }), 'Reported');
  let asked: URLSearchParams | undefined;
  server.on(listOverseenSessions, (query) => {
    if (query.get('search') !== '') asked = query;
    return reply(listOverseenSessions, []);
  });
  await userEvent.type(screen.getByRole('searchbox', { name: 'Search the sessions' }), 'tina');
  await waitFor(() => expect(asked?.get('search')).toBe('tina'));
  expect(Object.fromEntries(asked ?? [])).toMatchObject({ status: 'completed', end_reason: 'time_limit', reported: 'true' });
  server.answer(listOverseenSessions, [overseen()]);
  await userEvent.click(await screen.findByRole('button', { name: 'Show all sessions' }));
  expect(await screen.findByRole('list', { name: 'Sessions' })).toBeVisible();
});

it('says that there are none, and why the list could not be read', async () => {
  server.on(listOverseenSessions, refusal('internal', { detail: 'Not now.' }));
  const queries = new QueryClient({ defaultOptions: { queries: { retry: false } } });
  renderForTest(<OverseenPage />, '/', queries);
  expect(await screen.findByRole('alert')).toHaveTextContent('Not now.');
  server.answer(listOverseenSessions, []);
  await userEvent.click(screen.getByRole('button', { name: /retry|try again/iu }));
  expect(await screen.findByText('No sessions yet')).toBeVisible();
  act(
    () =>
      void queries.setQueryData(deskCountsQuery.queryKey, {
        ...{ mine: 0, mine_unread: 0, unassigned: 0, unassigned_waiting: 0, all: 0, snoozed: 0, closed: 0, tags: [] },
        remote_waiting: 1,
        remote_customers: [{ customer: 'nora', since: '2026-11-20T10:00:00.000Z' }],
      }),
  );
  expect(await screen.findByRole('link', { name: 'Enter the code of nora' })).toHaveAttribute('href', '/portal');
  expect(screen.queryByText('No sessions yet')).not.toBeInTheDocument();
});
