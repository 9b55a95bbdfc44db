import { readReport } from '@palisade/contract/desk';
import { type InstallationReport, readInstallationReport } from '@palisade/contract/report';
import { screen, waitFor, within } from '@testing-library/react';
import userEvent from '@testing-library/user-event';
import { beforeEach, expect, it, vi } from 'vitest';
import { ADA } from '#api/fake-desk.ts';
import { FakeServer, refusal, reply } from '#api/fake-server.ts';
import { renderForTest } from '#ui/render-for-test.tsx';
import { ReportsPage } from './reports-page.tsx';

const server = FakeServer.ofEachTest(ADA);

const NOTHING = {
  people: { joined: 0, deleted: 0 },
  security: { files: 0, infected: 0, alerts: 0 },
  income: { assigned: 0, ended: 0, sold: [] },
};
const REPORT: InstallationReport = {
  ...{ from: '2026-11-10', to: '2026-11-20', time_zone: 'Europe/Vienna', unit: 'week' },
  spans: [
    { ...NOTHING, day: '2026-11-10' },
    {
      day: '2026-11-16',
      people: { joined: 1_200, deleted: 1 },
      security: { files: 30, infected: 2, alerts: 1 },
      income: {
        assigned: 2,
        ended: 1,
        sold: [
          { currency: 'USD', price: 119 },
          { currency: 'EUR', price: 9.5 },
        ],
      },
    },
  ],
};

beforeEach(() => {
  vi.spyOn(console, 'error').mockReturnValue();
  server.on(readReport, refusal('internal'));
  server.answer(readInstallationReport, REPORT);
});

it.each([
  ['Security', /Nov 16, 2026 30 2 1/u, 'Week from Nov 16, 2026: 30 files read, 2 infected files, 1 alert'],
  ['People', /Nov 16, 2026 1,200 1/u, 'Week from Nov 16, 2026: 1,200 new people, 1 deleted account'],
  ['Income', /Nov 16, 2026 2 1 \$119\.00 USD, €9\.50 EUR/u, 'Week from Nov 16, 2026: 2 plans assigned, 1 plan ended'],
] as const)('about %s has its figures as a chart and a table, without the weeks of nothing', async (about, row, title) => {
  renderForTest(<ReportsPage />);
  await userEvent.setup().click(screen.getByRole('radio', { name: about }));
  const table = within(await screen.findByRole('table', { name: about }));
  expect(table.getByRole('row', { name: row })).toBeVisible();
  expect(table.getAllByRole('row')).toHaveLength(2);
  expect(screen.getByTitle(title)).toBeVisible();
});

it('keeps the time for another subject, and says what will be in an empty report', async () => {
  const asked: string[] = [];
  server.on(readInstallationReport, (query) => {
    asked.push(query.toString());
    return reply(readInstallationReport, { ...REPORT, spans: [{ ...NOTHING, day: '2026-11-10' }] });
  });
  renderForTest(<ReportsPage />);
  const user = userEvent.setup();
  await user.selectOptions(screen.getByLabelText('Time'), 'Last 7 days');
  await user.click(screen.getByRole('radio', { name: 'Income' }));
  expect(await screen.findByText('No plans in this time')).toBeVisible();
  expect(asked.at(-1)).toMatch(/^from=/u);
  await user.click(screen.getByRole('radio', { name: 'Security' }));
  expect(await screen.findByText('No files and no alerts in this time')).toBeVisible();
  expect(screen.queryByRole('table')).not.toBeInTheDocument();
});

it('says that a report could not be read, and reads it on Retry', async () => {
  server.on(readInstallationReport, refusal('internal'));
  renderForTest(<ReportsPage />);
  const user = userEvent.setup();
  await user.click(screen.getByRole('radio', { name: 'People' }));
  await waitFor(() => expect(screen.getAllByText('The report could not be read')).toHaveLength(1));
  server.answer(readInstallationReport, REPORT);
  await user.click(await screen.findByRole('button', { name: 'Retry' }));
  expect(await screen.findByRole('table', { name: 'People' })).toBeVisible();
});
