import { listScans } from '@palisade/contract/antivirus';
import { screen, within } from '@testing-library/react';
import userEvent from '@testing-library/user-event';
import { beforeEach, describe, expect, it } from 'vitest';
import { scanOf } from '#api/fake-records.ts';
import { FakeServer, refusal, reply } from '#api/fake-server.ts';
import { renderForTest } from '#ui/render-for-test.tsx';
import { ScanHistory } from './scan-history.tsx';

let server: FakeServer;

beforeEach(() => {
  server = new FakeServer();
});

describe('the scan history', () => {
  it('shows that it is loading', () => {
    server.on(listScans, () => new Promise(() => undefined));
    renderForTest(<ScanHistory />);
    expect(screen.getByRole('status', { name: 'Loading the scan history' })).toBeVisible();
  });

  it('says that there are no scans yet', async () => {
    server.on(listScans, reply(listScans, []));
    renderForTest(<ScanHistory />);
    expect(await screen.findByText('No scans yet')).toBeVisible();
  });

  it('says why it could not be read, and reads it on Retry', async () => {
    server.on(listScans, refusal('internal', { detail: 'The server is tired.' }));
    renderForTest(<ScanHistory />);
    expect(await screen.findByRole('alert')).toHaveTextContent('The server is tired.');
    server.on(listScans, reply(listScans, [scanOf({ filename: 'found-again.txt' })]));
    await userEvent.click(screen.getByRole('button', { name: 'Retry' }));
    expect(await screen.findByText('found-again.txt')).toBeVisible();
    expect(screen.queryByRole('alert')).not.toBeInTheDocument();
  });

  it('keeps what it has when reading it anew fails', async () => {
    server.on(listScans, reply(listScans, [scanOf({ filename: 'kept.txt' })]));
    renderForTest(<ScanHistory />);
    await screen.findByText('kept.txt');
    server.lose(listScans);
    await userEvent.click(screen.getByRole('button', { name: 'Refresh' }));
    expect(await screen.findByRole('alert')).toHaveTextContent('Network error. Please try again.');
    expect(screen.getByText('kept.txt')).toBeVisible();
  });

  it('reads the list anew on Refresh', async () => {
    server.on(listScans, reply(listScans, []));
    renderForTest(<ScanHistory />);
    await screen.findByText('No scans yet');
    server.on(listScans, reply(listScans, [scanOf({ filename: 'new.txt' })]));
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
        whole_file_conditions: true,
      },
      notes: ['A macro starts by itself.'],
    });
    server.on(listScans, reply(listScans, [found, scanOf({ scan_status: 'pending', status_detail: 'encrypted' }), scanOf()]));
    renderForTest(<ScanHistory />);
    await screen.findByText('mail.zip');
    const [infected, pending, clean] = screen.getAllByRole('listitem').map((item) => within(item));
    expect(infected?.getByText('Eicar.Test')).toBeVisible();
    expect(infected?.getByText('docs/eicar.com')).toBeVisible();
    expect(infected?.getByText('412 of 412 members read, 1.2 GB')).toBeVisible();
    expect(infected?.getByText('A macro starts by itself.')).toBeVisible();
    expect(infected?.getByText('Infected')).toBeVisible();
    expect(infected?.getByText('9f86d081')).toBeVisible();
    expect(infected?.getByRole('time')).toHaveAttribute('datetime', '2026-11-20T10:00:00.000Z');
    expect(pending?.getByText('Pending')).toBeVisible();
    expect(pending?.getByText('It is protected by a password, so its contents could not be read.')).toBeVisible();
    expect(clean?.getByText('Clean')).toBeVisible();
  });

  it('shows a hostile name as text that cannot turn what stands around it', async () => {
    server.on(listScans, reply(listScans, [scanOf({ filename: '<b>photo</b>\u202egpj.exe' })]));
    renderForTest(<ScanHistory />);
    const name = await screen.findByText('<b>photo</b>\ufffdgpj.exe');
    expect(name.tagName).toBe('BDI');
  });
});
