import { countScans, listScans } from '@palisade/contract/antivirus';
import { screen, waitFor, within } from '@testing-library/react';
import userEvent from '@testing-library/user-event';
import { beforeEach, describe, expect, it } from 'vitest';
import { scanOf } from '#api/fake-records.ts';
import { FakeServer, reply } from '#api/fake-server.ts';
import { renderForTest } from '#ui/render-for-test.tsx';
import { ScanHistory } from './scan-history.tsx';

const server = FakeServer.ofEachTest();

beforeEach(() => {
  server.answer(countScans, { clean: 1, infected: 0, pending: 0, test_files: 0 });
});

describe('the scan history', () => {
  it('says that there are no scans yet', async () => {
    server.answer(listScans, []);
    renderForTest(<ScanHistory />);
    expect(await screen.findByText('No scans yet')).toBeVisible();
  });

  it('reads the list anew on Refresh', async () => {
    server.answer(listScans, []);
    renderForTest(<ScanHistory />);
    await screen.findByText('No scans yet');
    server.answer(listScans, [scanOf({ filename: 'new.txt' })]);
    await userEvent.click(screen.getByRole('button', { name: 'Refresh' }));
    expect(await screen.findByText('new.txt')).toBeVisible();
  });

  it('tells of each scan what, when, what was found, the answer and the hash', async () => {
    const found = scanOf({
      filename: 'mail.zip',
      scan_status: 'infected',
      threat_detected: 'Eicar.Test',
      threat_member: 'docs/eicar.com',
      coverage: {
        members_total: 412,
        members_scanned: 412,
        bytes_scanned: 1_288_490_188,
        encrypted: 0,
        bytes_raw: 3_145_728,
        whole_file_conditions: true,
      },
      notes: ['A macro starts by itself.'],
    });
    server.answer(listScans, [found, scanOf({ scan_status: 'pending', status_detail: 'encrypted' }), scanOf()]);
    renderForTest(<ScanHistory />);
    await screen.findByText('mail.zip');
    const [infected, pending, clean] = within(screen.getByRole('list', { name: 'Scans' }))
      .getAllByRole('listitem')
      .map((item) => within(item));
    expect(infected?.getByText('Eicar.Test')).toBeVisible();
    expect(infected?.getByText('docs/eicar.com')).toBeVisible();
    expect(infected?.getByText('412 of 412 files inside checked, 1.2 GB, including 3 MB of unknown data')).toBeVisible();
    expect(infected?.getByText('A macro starts by itself.')).toBeVisible();
    expect(infected?.getByText('Infected')).toBeVisible();
    expect(infected?.getByText('9f86d081')).toBeVisible();
    expect(infected?.getByRole('time')).toHaveAttribute('datetime', '2026-11-20T10:00:00.000Z');
    expect(pending?.getByText('Pending')).toBeVisible();
    expect(pending?.getByText('This file has a password, so we couldn’t check its contents.')).toBeVisible();
    expect(clean?.getByText('Clean')).toBeVisible();
  });

  it('says of a file that holds what nobody understands why it is pending', async () => {
    server.answer(listScans, [scanOf({ scan_status: 'pending', status_detail: 'unexplained' })]);
    renderForTest(<ScanHistory />);
    expect(await screen.findByText(/^This file has hidden data/)).toBeVisible();
  });

  it('shows a hostile name as text that cannot turn what stands around it', async () => {
    server.answer(listScans, [scanOf({ filename: '<b>photo</b>\u202egpj.exe' })]);
    renderForTest(<ScanHistory />);
    const name = await screen.findByText('<b>photo</b>\ufffdgpj.exe');
    expect(name.tagName).toBe('BDI');
  });

  it('pages through all that there is, and counts it', async () => {
    const scans = Array.from({ length: 60 }, (_, place) => scanOf({ filename: `file-${String(place).padStart(2, '0')}.txt` }));
    server.answer(countScans, { clean: 60, infected: 0, pending: 0, test_files: 0 });
    server.on(listScans, (query) => {
      const from = query.has('cursor') ? scans.findIndex(({ id }) => id === query.get('cursor')) + 1 : 0;
      return reply(listScans, scans.slice(from, from + Number(query.get('limit'))));
    });
    renderForTest(<ScanHistory />);
    await screen.findByText('file-49.txt');
    expect(screen.queryByText('file-50.txt')).not.toBeInTheDocument();
    expect(await screen.findByRole('radio', { name: 'All 60' })).toBeChecked();
    await userEvent.click(screen.getByRole('button', { name: 'Show more (10 left)' }));
    expect(await screen.findByText('file-59.txt')).toBeVisible();
    expect(screen.queryByRole('button', { name: /Show more/u })).not.toBeInTheDocument();
  });

  it('shows one status, finds words, and orders', async () => {
    const asked: string[] = [];
    server.answer(countScans, { clean: 210, infected: 1, pending: 0, test_files: 0 });
    server.on(listScans, (query) => {
      query.delete('limit');
      asked.push(String(query));
      return reply(listScans, [scanOf({ filename: query.get('status') === 'infected' ? 'bad.exe' : 'good.txt' })]);
    });
    const user = userEvent.setup();
    renderForTest(<ScanHistory />);
    await screen.findByText('good.txt');
    await user.click(await screen.findByRole('radio', { name: 'Infected 1' }));
    expect(await screen.findByText('bad.exe')).toBeVisible();
    await user.type(screen.getByRole('searchbox', { name: 'Search the scan history' }), ' bad ');
    await user.selectOptions(screen.getByRole('combobox', { name: 'Order' }), 'By name');
    await waitFor(() => expect(asked.at(-1)).toBe('search=bad&sort=name&status=infected'));
  });

  it('says that nothing matches, and leads back to all', async () => {
    server.on(listScans, (query) =>
      reply(listScans, query.get('status') === 'pending' ? [] : [scanOf({ filename: 'good.txt' })]),
    );
    renderForTest(<ScanHistory />);
    await userEvent.click(await screen.findByRole('radio', { name: 'Pending' }));
    expect(await screen.findByText('No matching scans')).toBeVisible();
    await userEvent.click(screen.getByRole('button', { name: 'Show all scans' }));
    expect(await screen.findByText('good.txt')).toBeVisible();
  });
});
