import { listScans, statusDetailSchema } from '@palisade/contract/antivirus';
import { deleteScan, readScan, type ScanDetail } from '@palisade/contract/quarantine';
import { screen, waitFor, within } from '@testing-library/react';
import userEvent from '@testing-library/user-event';
import { beforeEach, describe, expect, it, vi } from 'vitest';
import { MARIA, scanDetailOf } from '#api/fake-records.ts';
import { FakeServer, refusal, reply } from '#api/fake-server.ts';
import { startSession } from '#api/session.ts';
import { renderForTest } from '#ui/render-for-test.tsx';
import { AntivirusPage } from './antivirus-page.tsx';
import { adviceOf } from './scan-advice.ts';
import { UploadsProvider } from './uploads.tsx';

let server: FakeServer;

beforeEach(() => {
  server = new FakeServer();
  startSession({ access_token: 'token-1', user_info: MARIA });
});

const INFECTED = scanDetailOf({
  filename: 'mail.zip',
  scan_status: 'infected',
  threat_detected: 'Webshell.PHP.EvalRequest',
  threat_member: 'inner.zip / shell.php',
  threat_facts: {
    description: 'A page that runs whatever it is sent.',
    severity: 'critical',
    reference: 'https://attack.mitre.org/',
  },
  media_type: 'application/zip',
  notes: ['inner.zip: A macro starts by itself.'],
});

/** Opens the record from its row of the history. */
async function open(scan: ScanDetail) {
  server.on(listScans, reply(listScans, [scan]));
  server.on({ ...readScan, path: `/antivirus/scans/${scan.id}` }, reply(readScan, scan));
  renderForTest(
    <UploadsProvider>
      <AntivirusPage />
    </UploadsProvider>,
  );
  await userEvent.click(await screen.findByRole('link', { name: scan.filename }));
  const dialog = await screen.findByRole('dialog', { name: 'Scan details' });
  await within(dialog).findByText('What to do');
  return within(dialog);
}

describe('the details of a scan', () => {
  it('say whether it is bad, what was found, where, by whom, and what to do', async () => {
    const dialog = await open(INFECTED);
    expect(dialog.getByText('This file is harmful.')).toBeVisible();
    expect(dialog.getByText('Webshell.PHP.EvalRequest')).toBeVisible();
    expect(dialog.getByText('Critical severity')).toBeVisible();
    expect(dialog.getByText('A page that runs whatever it is sent.')).toBeVisible();
    expect(dialog.getByText('shell.php')).toBeVisible();
    expect(dialog.getByText('A zip archive')).toBeVisible();
    expect(dialog.getByText('inner.zip: A macro starts by itself.')).toBeVisible();
    expect(dialog.getByText('version 1.9.0, signatures 1, 4 ms')).toBeVisible();
    expect(dialog.getByRole('link', { name: /Read about it/u })).toHaveAttribute('rel', 'noopener noreferrer');
    expect(dialog.getByText(INFECTED.file_hash)).toBeVisible();
  });

  it('are closed with a key, and the focus is where it was', async () => {
    await open(INFECTED);
    await userEvent.keyboard('{Escape}');
    await waitFor(() => expect(screen.queryByRole('dialog')).not.toBeInTheDocument());
    expect(screen.getByRole('link', { name: 'mail.zip' })).toHaveFocus();
  });

  it('do not frighten over a test file', async () => {
    const dialog = await open({ ...INFECTED, threat_detected: 'EICAR-Test-File', is_test_file: true });
    expect(dialog.getByText('This is a harmless test file.')).toBeVisible();
    expect(dialog.getByText('Test file')).toBeVisible();
  });

  it('have advice of their own for every reason why a file was not read', () => {
    const advice = statusDetailSchema.options.map((status_detail) =>
      adviceOf(scanDetailOf({ scan_status: 'pending', status_detail })).join(' '),
    );
    expect(new Set(advice).size).toBe(statusDetailSchema.options.length);
  });

  it('say that a scan is not there', async () => {
    server.on(listScans, reply(listScans, [INFECTED]));
    server.on({ ...readScan, path: `/antivirus/scans/${INFECTED.id}` }, refusal('not_found'));
    vi.spyOn(console, 'error').mockReturnValue();
    renderForTest(
      <UploadsProvider>
        <AntivirusPage />
      </UploadsProvider>,
    );
    await userEvent.click(await screen.findByRole('link', { name: INFECTED.filename }));
    expect(await screen.findByText('This scan is not there')).toBeVisible();
  });

  it('take a scan out of the history once the person has confirmed', async () => {
    const dialog = await open(INFECTED);
    server.on({ ...deleteScan, path: `/antivirus/scans/${INFECTED.id}` }, reply(deleteScan, undefined));
    const confirm = vi.fn().mockReturnValueOnce(false).mockReturnValueOnce(true);
    vi.stubGlobal('confirm', confirm);
    await userEvent.click(dialog.getByRole('button', { name: 'Remove from history' }));
    expect(server.calls.filter(({ method }) => method === 'DELETE')).toEqual([]);
    server.on(listScans, reply(listScans, []));
    await userEvent.click(dialog.getByRole('button', { name: 'Remove from history' }));
    await waitFor(() => expect(screen.queryByRole('dialog')).not.toBeInTheDocument());
    expect(await screen.findByText('No scans yet')).toBeVisible();
  });
});
