import { HOME_DAYS, type Home, readHome } from '@palisade/contract/home';
import { readOverview } from '@palisade/contract/overview';
import { screen, within } from '@testing-library/react';
import userEvent from '@testing-library/user-event';
import { beforeEach, expect, it, vi } from 'vitest';
import { MARIA, NOTHING_WAITS } from '#api/fake-records.ts';
import { FakeServer, refusal } from '#api/fake-server.ts';
import { renderForTest } from '#ui/render-for-test.tsx';
import { OwnerHome } from './owner-home.tsx';

const server = FakeServer.ofEachTest();

const first_steps = { provider: true, second_factor: true, first_scan: true, others: true };
const DAY = { people: 0, infected: 0, alerts: 0 };
const trend = Array.from({ length: HOME_DAYS }, (_, day) => ({
  ...DAY,
  day: new Date(Date.UTC(2026, 7, 23 + day)).toISOString().slice(0, 10),
}));
const HOME: Home = {
  people: { all: 1_208, new: 12, active: 80, at_risk: 3, unchecked: 7, serious_alert: 2 },
  in_danger: [{ id: MARIA.id, username: 'maria' }],
  income: [
    { currency: 'USD', monthly: 1_240.5, plans: 34 },
    { currency: 'EUR', monthly: 9, plans: 1 },
  ],
  devices: { all: 41, silent: 4 },
  trend: trend.map((day, place) => (place === 5 ? { ...day, people: 2, infected: 1 } : day)),
};

beforeEach(() => {
  server.answer(readHome, HOME);
  server.answer(readOverview, { waiting: NOTHING_WAITS, is_mail_connected: true, first_steps });
});

it('links each figure to its list', async () => {
  server.answer(readOverview, {
    waiting: { ...NOTHING_WAITS, plans_ending: 5, plan_requests: 6 },
    is_mail_connected: true,
    first_steps,
  });
  renderForTest(<OwnerHome />);
  const linksOf = async (name: string) =>
    within(await screen.findByRole('region', { name }))
      .getAllByRole('link')
      .map((link) => [link.textContent, link.getAttribute('href')]);
  expect(await linksOf('People')).toEqual([
    ['1,208', '/admin/users'],
    ['12 new in 30 days', '/admin/users?state=new'],
    ['80 active', '/admin/users?state=active'],
    ['3 in danger', '/admin/users?state=at_risk'],
    ['7 not checked', '/admin/users?state=unchecked'],
  ]);
  expect(await linksOf('Income a month')).toEqual([
    ['$1,240.50 USD', '/subscription-manager?tab=manage&status=active'],
    ['€9.00 EUR', '/subscription-manager?tab=manage&status=active'],
    ['35 plans of customers', '/subscription-manager?tab=manage&status=active'],
    ['5 end within 30 days', '/subscription-manager?tab=manage&status=ending'],
  ]);
  expect(await linksOf('Devices')).toEqual([['4 silent for a week', '/admin/users?state=silent_device']]);
  expect(await linksOf('Last 90 days')).toEqual([
    ['2 new people', '/support/reports?about=people'],
    ['1 infected file', '/support/reports?about=security'],
    ['0 alerts', '/support/reports?about=security'],
  ]);
});

it('draws each figure of the trend by week, and says its peak in words', async () => {
  server.answer(readHome, {
    ...HOME,
    trend: trend.map((day, place) => ({ ...day, people: place === 0 ? 1 : 0, alerts: place >= HOME_DAYS - 7 ? 2 : 0 })),
  });
  renderForTest(<OwnerHome />);
  const drawings = await screen.findAllByRole('img');
  expect(drawings.map((drawing) => drawing.getAttribute('aria-label'))).toEqual([
    'At most 1 in a week',
    'At most 0 in a week',
    'At most 14 in a week',
  ]);
  const points = drawings[2]?.querySelector('polyline')?.getAttribute('points')?.split(' ') ?? [];
  expect(points).toHaveLength(Math.ceil(HOME_DAYS / 7));
  expect([points[0], points.at(-2), points.at(-1)]).toEqual(['0,37', '11,37', '12,3']);
});

it('draws no line of less than two weeks', async () => {
  server.answer(readHome, { ...HOME, trend: trend.map((day, place) => ({ ...day, alerts: place >= HOME_DAYS - 13 ? 2 : 0 })) });
  renderForTest(<OwnerHome />);
  expect(await screen.findByRole('link', { name: '26 alerts' })).toBeVisible();
  expect(screen.queryByRole('img')).not.toBeInTheDocument();
});

it('lists each kind that waits with its one action, the gravest first', async () => {
  const waiting = { ...NOTHING_WAITS, unproven: 1, conversations: 1_200, remote_requests: 1 };
  server.answer(readOverview, { waiting, is_mail_connected: false, first_steps });
  renderForTest(<OwnerHome />);
  await screen.findByRole('region', { name: 'People' });
  const rows = within(screen.getByRole('region', { name: 'Waiting for you' })).getAllByRole('listitem');
  expect(
    rows.map((row) => [row.querySelector('.waiting__what')?.textContent, within(row).getByRole('link').getAttribute('href')]),
  ).toEqual([
    ['maria is in danger', `/admin/users?person=${MARIA.id}`],
    ['2 other people are in danger', '/admin/users?state=at_risk'],
    ['No email goes out: people get no password codes.', '/admin/outbox'],
    ['1 customer waits for remote help', '/portal'],
    ['1,200 chats have no answer', '/support?view=all'],
    ['1 person has not confirmed their email', '/admin/users?state=unproven'],
  ]);
  expect(screen.getByRole('link', { name: 'Answer: chats have no answer' })).toBeVisible();
});

it('says that nothing waits in a fresh installation, and that there is no plan', async () => {
  server.answer(readHome, {
    ...HOME,
    people: { all: 1, new: 1, active: 1, at_risk: 0, unchecked: 0, serious_alert: 0 },
    in_danger: [],
    income: [],
    trend,
  });
  renderForTest(<OwnerHome />);
  expect(await screen.findByText(/^Nothing\. New chats/u)).toBeVisible();
  expect(screen.getByText('None yet')).toBeVisible();
  expect(screen.queryByRole('link', { name: /in danger/u })).not.toBeInTheDocument();
});

it('shows what waits where the figures cannot be read, and reads them on Retry', async () => {
  vi.spyOn(console, 'error').mockReturnValue();
  server.on(readHome, refusal('internal'));
  renderForTest(<OwnerHome />);
  const alert = await screen.findByRole('alert');
  expect(screen.getByRole('region', { name: 'Waiting for you' })).toBeVisible();
  server.answer(readHome, HOME);
  await userEvent.setup().click(within(alert).getByRole('button', { name: 'Retry' }));
  expect(await screen.findByRole('region', { name: 'People' })).toBeVisible();
});
