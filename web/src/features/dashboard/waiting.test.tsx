import { readOverview } from '@palisade/contract/overview';
import { screen, within } from '@testing-library/react';
import { beforeEach, expect, it } from 'vitest';
import { NOTHING_WAITS } from '#api/fake-records.ts';
import { FakeServer } from '#api/fake-server.ts';
import { renderForTest } from '#ui/render-for-test.tsx';
import { Waiting } from './waiting.tsx';

let server: FakeServer;

beforeEach(() => {
  server = new FakeServer();
});

const first_steps = { provider: true, second_factor: true, first_scan: true, others: true };

it('lists each kind that waits with its one action, people first', async () => {
  const waiting = { ...NOTHING_WAITS, unproven: 1, conversations: 1_200, plans_ending: 2 };
  server.answer(readOverview, { waiting, first_steps });
  renderForTest(<Waiting />);
  const rows = within(await screen.findByRole('region', { name: 'Waiting for you' })).getAllByRole('listitem');
  expect(rows.map((row) => row.querySelector('.waiting__what')?.textContent)).toEqual([
    '1,200 chats have no answer',
    '2 plans end within 30 days',
    '1 person has not confirmed their email',
  ]);
  expect(rows.map((row) => within(row).getByRole('link').getAttribute('href'))).toEqual([
    '/support?view=all',
    '/subscription-manager?tab=manage',
    '/admin/users?state=unproven',
  ]);
  expect(screen.getByRole('link', { name: 'Renew: plans end within 30 days' })).toBeVisible();
});

it('says so when nothing waits', async () => {
  server.answer(readOverview, { waiting: NOTHING_WAITS, first_steps });
  renderForTest(<Waiting />);
  expect(await screen.findByText(/^Nothing\. New chats/u)).toBeVisible();
  expect(screen.queryByRole('listitem')).not.toBeInTheDocument();
});
