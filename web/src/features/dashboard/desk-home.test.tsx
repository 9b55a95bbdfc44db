import { type Counts, readCounts } from '@palisade/contract/desk-counts';
import { listConversations } from '@palisade/contract/desk-list';
import type { Conversation } from '@palisade/contract/desk-record';
import { screen, within } from '@testing-library/react';
import userEvent from '@testing-library/user-event';
import { beforeEach, expect, it, vi } from 'vitest';
import { conversationOf, TINA } from '#api/fake-desk.ts';
import { FakeServer, page, refusal } from '#api/fake-server.ts';
import { renderForTest } from '#ui/render-for-test.tsx';
import { DeskHome } from './desk-home.tsx';

const server = FakeServer.ofEachTest(TINA);

const COUNTS: Counts = {
  mine: 2,
  unassigned: 7,
  all: 1_009,
  snoozed: 1,
  closed: 4,
  mine_unread: 1,
  unassigned_waiting: 7,
  remote_waiting: 3,
  remote_customers: [{ customer: 'nora', since: '2026-11-20T10:00:00.000Z' }],
  tags: [],
};
const OTHER_ID = '01999999-0000-7000-8000-000000000002';

function answerWith(conversations: Conversation[], total = conversations.length): void {
  server.on(listConversations, page(listConversations, conversations, { total }));
}

beforeEach(() => {
  server.answer(readCounts, COUNTS);
});

it('lists the waiting conversations in the order of the server, each with one action', async () => {
  answerWith(
    [
      conversationOf({ customer: 'elena', priority: 'urgent', waiting_since: new Date().toISOString() }),
      conversationOf({ id: OTHER_ID, customer: 'bruno', wants_person: true }),
    ],
    9,
  );
  renderForTest(<DeskHome />);
  const rows = within(await screen.findByRole('list', { name: 'Waiting conversations' })).getAllByRole('listitem');
  expect(
    rows.map((row) =>
      within(row)
        .getAllByRole('link')
        .map((link) => link.getAttribute('aria-label')),
    ),
  ).toEqual([['Answer elena'], ['Answer bruno']]);
  expect(within(rows[0] ?? document.body).getByText('Urgent')).toBeVisible();
  expect(within(rows[1] ?? document.body).getByText('Wants a person')).toBeVisible();
  expect(screen.getByRole('link', { name: 'Answer bruno' })).toHaveAttribute('href', `/support?conversation=${OTHER_ID}`);
  expect(screen.getByRole('link', { name: 'Show all 9' })).toHaveAttribute('href', '/support');
});

it('names the customers who wait for remote help, and leads to the portal', async () => {
  answerWith([]);
  renderForTest(<DeskHome />);
  expect(await screen.findByText('Everyone has an answer')).toBeVisible();
  const remote = within(await screen.findByRole('region', { name: '3 customers wait for remote help' }));
  expect(remote.getByRole('listitem')).toHaveTextContent('nora has waited for remote help since 10:00 AM.');
  expect(remote.getByText('2 more customers wait.')).toBeVisible();
  expect(remote.getByRole('link', { name: 'Enter the code of nora' })).toHaveAttribute('href', '/portal');
});

it('loads the conversations again on Retry', async () => {
  vi.spyOn(console, 'error').mockReturnValue();
  server.on(listConversations, refusal('internal'));
  renderForTest(<DeskHome />);
  const alert = await screen.findByRole('alert');
  answerWith([conversationOf({ customer: 'elena' })]);
  await userEvent.setup().click(within(alert).getByRole('button', { name: 'Retry' }));
  expect(await screen.findByRole('link', { name: 'Answer elena' })).toBeVisible();
});
