import { listScans, type Scan, settleInfections } from '@palisade/contract/antivirus';
import { readDashboard } from '@palisade/contract/dashboard';
import { screen, waitFor, within } from '@testing-library/react';
import userEvent from '@testing-library/user-event';
import { expect, it } from 'vitest';
import { dashboardOf, MARIA, scanOf, statusOf } from '#api/fake-records.ts';
import { FakeServer, reply } from '#api/fake-server.ts';
import { renderForTest } from '#ui/render-for-test.tsx';
import { AntivirusPage } from './antivirus-page.tsx';
import { UploadsProvider } from './uploads.tsx';

const infected = (filename: string, file_hash: string, rest: Partial<Scan> = {}) =>
  scanOf({
    ...{ filename, file_hash, scan_status: 'infected', threat_detected: 'Ransom.Note.Gang', infection: { state: 'open' } },
    ...rest,
  });

/** The page at `/antivirus?status=infected`, with an answer that closes what is sent. */
function showPage(scans: Scan[]) {
  const server = new FakeServer(MARIA);
  let rows = scans;
  const step = { id: 'infection_open', title: 'An infected file is not deleted yet', is_danger: true };
  server.on(readDashboard, () =>
    reply(
      readDashboard,
      dashboardOf({ status: rows.some(({ infection }) => infection?.state === 'open') ? statusOf(step) : statusOf() }),
    ),
  );
  server.on(listScans, (query) => reply(listScans, query.get('status') === 'infected' ? rows : [...rows, scanOf()]));
  server.on(settleInfections, () => {
    const infection = { state: 'closed', at: '2026-11-20T10:00:00.000Z', by: 'person' } as const;
    rows = rows.map((scan) => ({ ...scan, infection }));
    return reply(settleInfections, { settled: rows.length });
  });
  renderForTest(
    <UploadsProvider>
      <AntivirusPage />
    </UploadsProvider>,
    '/antivirus?status=infected',
  );
  return server;
}

it('closes all open infections with one press, each file once, and lists the infected files that the address asks for', async () => {
  const rows = [infected('a.exe', '1'), infected('b.exe', '2', { threat_member: 'in/b.scr' }), infected('a (1).exe', '1')];
  const server = showPage(rows);
  const lead = within(await screen.findByRole('region', { name: 'An infected file is not deleted yet' }));
  expect(lead.getAllByRole('listitem')[1]).toHaveTextContent(
    'b.exeRansomware: locks files and demands money · Ransom.Note.Gang in the file in/b.scr',
  );
  expect(within(screen.getByRole('list', { name: 'Scans' })).getAllByRole('listitem')).toHaveLength(3);
  await userEvent.click(lead.getByRole('button', { name: 'I deleted all 2' }));
  await waitFor(() => expect(screen.queryByRole('region', { name: /^An infected file/u })).not.toBeInTheDocument());
  expect(server.callsOf(settleInfections)).toMatchObject([{ body: { scan_ids: [rows[0]?.id, rows[1]?.id], deleted: true } }]);
  expect(screen.getAllByText(/^You deleted it on .* 2026\.$/u)).toHaveLength(3);
});

it('says who ended an infection, and takes back only the person’s own word', async () => {
  const at = '2026-11-20T10:00:00.000Z';
  showPage([
    infected('mine.exe', '1', { infection: { state: 'closed', at, by: 'person' } }),
    infected('theirs.exe', '2', {
      infection: { state: 'closed', at, by: 'agent' },
      device: { id: '01930000-0000-7000-b000-000000000001', device_name: 'LAPTOP', path: '/tmp/theirs.exe' },
    }),
  ]);
  expect(await screen.findByText(/^Palisade removed it from LAPTOP on .* 2026\.$/u)).toBeVisible();
  expect(screen.getByRole('button', { name: 'Not deleted after all: mine.exe' })).toBeVisible();
  expect(screen.queryByRole('button', { name: /theirs\.exe/u })).not.toBeInTheDocument();
});
