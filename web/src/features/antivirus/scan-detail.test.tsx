import { listScans, statusDetailSchema } from '@palisade/contract/antivirus';
import {
  deleteFile,
  deleteScan,
  readScan,
  reportFalseAlarm,
  restoreFile,
  type ScanDetail,
  unlockFile,
} from '@palisade/contract/quarantine';
import { screen, waitFor, within } from '@testing-library/react';
import userEvent from '@testing-library/user-event';
import { describe, expect, it, vi } from 'vitest';
import { MARIA, scanDetailOf } from '#api/fake-records.ts';
import { at, FakeServer, refusal, reply } from '#api/fake-server.ts';
import { takeToCheck } from '#domain/scam/to-check.ts';
import { renderForTest } from '#ui/render-for-test.tsx';
import { AntivirusPage } from './antivirus-page.tsx';
import { adviceOf } from './scan-advice.ts';
import { UploadsProvider } from './uploads.tsx';

const server = FakeServer.ofEachTest(MARIA);

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
  server.answer(listScans, [scan]);
  server.answer(at(readScan, scan), scan);
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
  // proves: support-customer-21
  it('have the way to show it to support', async () => {
    const dialog = await open(INFECTED);
    expect(dialog.getByRole('link', { name: `Show this to support: ${INFECTED.filename}` })).toHaveAttribute(
      'href',
      expect.stringMatching(new RegExp(`^/chat\\?share=scan%3A${INFECTED.id}`, 'u')),
    );
  });

  it('say that a copy that waits for room to be locked away is not given out', async () => {
    const dialog = await open({ ...INFECTED, kept: 'waiting' });
    expect(dialog.getByText('We’ll quarantine our copy when there’s room. Until then, no one can download it.')).toBeVisible();
  });

  it('say whether it is bad, what was found, where, by whom, and what to do', async () => {
    const dialog = await open(INFECTED);
    expect(dialog.getByText(INFECTED.file_hash)).not.toBeVisible();
    await userEvent.click(dialog.getByText('How we checked it'));
    expect(dialog.getByText('This file is dangerous.')).toBeVisible();
    expect(dialog.getByText('Lets a stranger control a website')).toBeVisible();
    expect(dialog.getByText('A page that runs whatever it is sent.')).toBeVisible();
    expect(dialog.getByText(/^We found it in/u)).toHaveTextContent('We found it in mail.zip, in the file inner.zip / shell.php.');
    expect(dialog.getByText('A zip archive')).toBeVisible();
    expect(dialog.getByText('inner.zip: A macro starts by itself.')).toBeVisible();
    expect(dialog.getByText('version 1.9.0, threat definitions 1, 4 ms')).toBeVisible();
    expect(dialog.getByRole('link', { name: /Learn more/u })).toHaveAttribute('rel', 'noopener noreferrer');
    expect(dialog.getByText(INFECTED.file_hash)).toBeVisible();
  });

  it('have a kept email checked for signs of a scam', async () => {
    const scan = scanDetailOf({ filename: 'letter.eml', scan_status: 'pending', status_detail: 'encrypted', kept: 'sealed' });
    const dialog = await open(scan);
    server.on(at(restoreFile, scan), { status: 200, text: 'From: a@example.com' });
    await userEvent.click(dialog.getByRole('button', { name: 'Check this: letter.eml' }));
    await waitFor(() => {
      const handed = takeToCheck();
      if (handed === undefined || !('file' in handed)) throw new Error('nothing was handed over');
      expect(handed.file.name).toBe('letter.eml');
    });
  });

  it('lead to the scam check for an email without a copy, and not for other files', async () => {
    const dialog = await open(scanDetailOf({ filename: 'letter.msg', scan_status: 'clean', kept: 'no' }));
    expect(dialog.getByRole('link', { name: 'scam check' })).toHaveAttribute('href', '/scam-check');
    expect(dialog.queryByRole('button', { name: /^Check this/u })).not.toBeInTheDocument();
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
    expect(dialog.getByText('Infected (test)')).toBeVisible();
  });

  it('do not call an archive harmless whose other files were not read', async () => {
    const dialog = await open({ ...INFECTED, threat_detected: 'EICAR-Test-File', is_test_file: true, status_detail: 'damaged' });
    expect(dialog.getByText('It contains a harmless test file.')).toBeVisible();
    expect(dialog.getByText(/don’t open it\. Some files are damaged/u)).toBeVisible();
  });

  it('have advice of their own for every reason why a file was not read', () => {
    const advice = statusDetailSchema.options.map((status_detail) =>
      adviceOf(scanDetailOf({ scan_status: 'pending', status_detail })).join(' '),
    );
    expect(new Set(advice).size).toBe(statusDetailSchema.options.length);
  });

  it('say that a scan is not there', async () => {
    server.answer(listScans, [INFECTED]);
    server.on(at(readScan, INFECTED), refusal('not_found'));
    vi.spyOn(console, 'error').mockReturnValue();
    renderForTest(
      <UploadsProvider>
        <AntivirusPage />
      </UploadsProvider>,
    );
    await userEvent.click(await screen.findByRole('link', { name: INFECTED.filename }));
    expect(await screen.findByText('We couldn’t find this scan')).toBeVisible();
  });

  it('take a scan out of the history once the person has confirmed', async () => {
    const dialog = await open(INFECTED);
    server.answer(at(deleteScan, INFECTED), undefined);
    const confirm = vi.fn().mockReturnValueOnce(false).mockReturnValueOnce(true);
    vi.stubGlobal('confirm', confirm);
    await userEvent.click(dialog.getByRole('button', { name: 'Remove from history' }));
    expect(server.calls.filter(({ method }) => method === 'DELETE')).toEqual([]);
    server.answer(listScans, []);
    await userEvent.click(dialog.getByRole('button', { name: 'Remove from history' }));
    await waitFor(() => expect(screen.queryByRole('dialog')).not.toBeInTheDocument());
    expect(await screen.findByText('No scans yet')).toBeVisible();
  });

  it('have a file read with its password, and say when that was the wrong one', async () => {
    const locked = scanDetailOf({
      scan_status: 'pending',
      status_detail: 'encrypted',
      kept: 'sealed',
      media_type: 'application/zip',
    });
    const dialog = await open(locked);
    const unlock = at(unlockFile, locked);
    server.on(
      unlock,
      refusal('invalid_field', {
        errors: [{ field: 'password', message: 'This password doesn’t open the file. Check it and try again.' }],
      }),
    );
    expect(dialog.getByText('To use it, enter its password below and wait for the result.')).toBeVisible();
    await userEvent.type(dialog.getByLabelText('File password'), 'wrong');
    await userEvent.click(dialog.getByRole('button', { name: 'Scan with password' }));
    expect(await dialog.findByText('This password doesn’t open the file. Check it and try again.')).toBeVisible();

    server.on(unlock, reply(unlockFile, { ...locked, scan_status: 'clean', status_detail: null, kept: 'no' }));
    await userEvent.type(dialog.getByLabelText('File password'), ' but right');
    await userEvent.click(dialog.getByRole('button', { name: 'Scan with password' }));
    expect(await dialog.findByText('No threats found.')).toBeVisible();
    expect(server.calls.findLast(({ method }) => method === 'POST')?.body).toEqual({ password: 'wrong but right' });
    expect(dialog.queryByLabelText('File password')).not.toBeInTheDocument();
  });

  it('say that the scanner failed on a file, and what that means for it', async () => {
    const dialog = await open(scanDetailOf({ scan_status: 'pending', status_detail: 'engine_failed', kept: 'sealed' }));
    expect(dialog.getByText('The scanner failed on this file.')).toBeVisible();
    expect(dialog.getByText(/failed twice on this file/u)).toBeVisible();
    expect(dialog.getByText(/^Don’t open it\. Few ordinary files make a scanner fail/u)).toBeVisible();
    expect(dialog.queryByLabelText('File password')).not.toBeInTheDocument();
  });

  it('ask for no password where none would help', async () => {
    const dialog = await open(
      scanDetailOf({ scan_status: 'pending', status_detail: 'encrypted', kept: 'sealed', media_type: 'application/pdf' }),
    );
    expect(dialog.queryByLabelText('File password')).not.toBeInTheDocument();
  });

  it('give a harmful file back only to who has read the warning', async () => {
    const sealed = { ...INFECTED, kept: 'sealed' as const, kept_until: '2026-12-20T10:00:00.000Z' };
    const dialog = await open(sealed);
    expect(dialog.getByText(/quarantined until .*2026/u)).toBeVisible();
    server.on(at(restoreFile, sealed), { status: 200, text: 'the bytes' });
    const confirm = vi.fn().mockReturnValueOnce(false).mockReturnValueOnce(true);
    vi.stubGlobal('confirm', confirm);
    const saved = vi.fn((_bytes: Blob) => 'blob:saved');
    vi.stubGlobal('URL', Object.assign(URL, { createObjectURL: saved, revokeObjectURL: vi.fn() }));
    const restore = dialog.getByRole('button', { name: 'Download the dangerous file' });
    await userEvent.click(restore);
    expect(server.calls.some(({ path }) => path.endsWith('/file'))).toBe(false);
    await userEvent.click(restore);
    await waitFor(() => expect(saved).toHaveBeenCalledOnce());
    expect(confirm.mock.calls[0]?.[0]).toContain('This file is dangerous.');
    expect(await saved.mock.calls[0]?.[0].text()).toBe('the bytes');
  });

  it('report a false alarm, and tell what became of it', async () => {
    const dialog = await open(INFECTED);
    const report = at(reportFalseAlarm, INFECTED);
    const reported_at = '2026-11-20T10:00:00.000Z';
    server.on(report, reply(reportFalseAlarm, { ...INFECTED, report: { status: 'open', reported_at, decided_at: null } }));
    await userEvent.click(dialog.getByRole('button', { name: 'Report a false alarm' }));
    await userEvent.type(dialog.getByLabelText(/^Why is this file harmless/u), 'I wrote it.');
    await userEvent.click(dialog.getByRole('button', { name: 'Send report' }));
    const said = await dialog.findByText('You reported a false alarm. An administrator will review it.');
    expect(said).toBeVisible();
    // The form was below it and is gone: on a phone the answer comes into sight with the focus.
    await waitFor(() => expect(said).toHaveFocus());
    expect(server.calls.findLast(({ method }) => method === 'POST')?.body).toEqual({ reason: 'I wrote it.' });
  });

  it('delete the kept copy once the person has confirmed', async () => {
    const sealed = { ...INFECTED, kept: 'sealed' as const };
    const dialog = await open(sealed);
    vi.stubGlobal('confirm', () => true);
    server.answer(at(deleteFile, sealed), undefined);
    server.answer(at(readScan, sealed), INFECTED);
    await userEvent.click(dialog.getByRole('button', { name: 'Delete our copy' }));
    expect(await dialog.findByText(/We’ve deleted our copy/u)).toBeVisible();
  });

  it('say when the answer is that of an earlier reading', async () => {
    const dialog = await open(scanDetailOf({ answered_from: '2026-11-19T10:00:00.000Z' }));
    expect(dialog.getByText(/You uploaded the same file before/u)).toBeInTheDocument();
  });
});
