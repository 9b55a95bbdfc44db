import { cancelUpload, countScans, listScans, type Scan, scanFile, UPLOAD_MAXIMUM } from '@palisade/contract/antivirus';
import type { ScanProgress } from '@palisade/contract/events';
import { act, fireEvent, screen, waitFor, within } from '@testing-library/react';
import userEvent from '@testing-library/user-event';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { keepEventsOpen } from '#api/events.ts';
import { MARIA, scanOf } from '#api/fake-records.ts';
import { FakeServer, type FakeUpload, refusal, reply } from '#api/fake-server.ts';
import { renderForTest, textsOf } from '#ui/render-for-test.tsx';
import { AntivirusPage } from './antivirus-page.tsx';
import { UploadsProvider } from './uploads.tsx';

const server = FakeServer.ofEachTest(MARIA);
const alert = vi.fn();

beforeEach(() => {
  server.answer(listScans, []);
  alert.mockReset();
  vi.stubGlobal('alert', alert);
});

async function open(first = 'No scans yet') {
  renderForTest(
    <UploadsProvider>
      <AntivirusPage />
    </UploadsProvider>,
  );
  await screen.findByText(first);
}

async function drop(...files: File[]) {
  const items = files.map((file) => ({ kind: 'file', getAsFile: () => file }));
  fireEvent.drop(screen.getByRole('group', { name: 'Files to scan' }), { dataTransfer: { items, types: ['Files'] } });
  await screen.findByRole('region', { name: 'Uploads' });
}

function fileOf(name: string, size = 4): File {
  const file = new File(['test'], name);
  Object.defineProperty(file, 'size', { value: size });
  return file;
}

/** The upload of a file, once it has been sent. */
async function uploadOf(name: string): Promise<FakeUpload> {
  return waitFor(() => {
    const upload = server.uploads.find(({ file }) => file.name === name);
    if (!upload) throw new Error(`${name} was not sent`);
    return upload;
  });
}

async function step(change: () => void): Promise<void> {
  await act(async () => change());
}

const panel = () => within(screen.getByRole('region', { name: 'Uploads' }));

function rowOf(name: string) {
  const row = panel()
    .getAllByRole('listitem')
    .find((item) => item.textContent.includes(name));
  if (!row) throw new Error(`There is no row of ${name}`);
  return within(row);
}

function answerWith(parts: Partial<Scan>) {
  return reply(scanFile, scanOf(parts));
}

/** Answers the upload of a file. */
async function finish(name: string, parts: Partial<Scan> = {}): Promise<void> {
  const upload = await uploadOf(name);
  await step(() => upload.answer(answerWith({ filename: name, ...parts })));
}

describe('uploading', () => {
  it('shows how far a file is, that it is being scanned, and what was found', async () => {
    await open();
    await drop(fileOf('invoice.pdf', 2048));
    const upload = await uploadOf('invoice.pdf');
    expect(rowOf('invoice.pdf').getByText('2 KB')).toBeVisible();

    await step(() => upload.progress(0.42));
    expect(rowOf('invoice.pdf').getByText('Uploading 42%')).toBeVisible();
    expect(rowOf('invoice.pdf').getByRole('progressbar', { name: 'Upload of invoice.pdf' })).toHaveValue(0.42);

    await step(() => upload.progress(1));
    expect(rowOf('invoice.pdf').getByText('Scanning…')).toBeVisible();

    await step(() => upload.answer(answerWith({ filename: 'invoice.pdf', scan_status: 'infected', threat_detected: 'Trojan' })));
    expect(panel().getByRole('heading', { name: 'invoice.pdf: infected' })).toBeVisible();
    expect(panel().getByRole('link', { name: 'What to do' })).toHaveAttribute('href', expect.stringMatching(/scan=/u));
    expect(panel().queryByRole('progressbar')).not.toBeInTheDocument();
    // Its result is in one list, the history.
    expect(panel().queryByRole('listitem')).not.toBeInTheDocument();
    expect(await screen.findAllByText('Trojan')).toHaveLength(1);
  });

  it('puts the new record at the head of the history without reading the list again', async () => {
    server.answer(listScans, [scanOf({ filename: 'older.txt' })]);
    let clean = 0;
    server.on(countScans, () => reply(countScans, { clean: ++clean, infected: 0, pending: 0, test_files: 0 }));
    await open('older.txt');
    await drop(fileOf('newer.txt'));
    await finish('newer.txt');
    const history = within(screen.getByRole('region', { name: 'Scan history' }));
    await waitFor(() => expect(history.getAllByRole('listitem')[0]).toHaveTextContent('newer.txt'));
    expect(history.getAllByRole('listitem')).toHaveLength(2);
    expect(server.callsOf(listScans)).toHaveLength(1);
    // The counts are the server's, asked for anew.
    await waitFor(() => expect(screen.getByRole('region', { name: 'Files Scanned' })).toHaveTextContent('2'));
  });

  it('sends at most two files at once, the others wait', async () => {
    await open();
    await drop(fileOf('1.bin'), fileOf('2.bin'), fileOf('3.bin'), fileOf('4.bin'));
    const first = await uploadOf('1.bin');
    expect(server.uploads).toHaveLength(2);
    expect(rowOf('3.bin').getByText('Waiting')).toBeVisible();

    await step(() => first.answer(answerWith({ filename: '1.bin' })));
    await uploadOf('3.bin');
    expect(server.uploads).toHaveLength(3);
    expect(rowOf('4.bin').getByText('Waiting')).toBeVisible();
  });

  it('sends one small file beside two big ones', async () => {
    await open();
    const big = 5 * 1024 ** 2;
    await drop(fileOf('1.iso', big), fileOf('2.iso', big), fileOf('3.iso', big), fileOf('a.txt'), fileOf('b.txt'));
    const small = await uploadOf('a.txt');
    expect(server.uploads.map(({ file }) => file.name)).toEqual(['1.iso', '2.iso', 'a.txt']);
    await step(() => small.answer(answerWith({ filename: 'a.txt' })));
    await uploadOf('b.txt');
    expect(server.uploads).toHaveLength(4);
  });

  it('takes files from the picker too', async () => {
    await open();
    expect(screen.getByRole('button', { name: 'Choose files' })).toBeEnabled();
    await userEvent.upload(screen.getByLabelText('Choose files to scan'), [fileOf('a.txt'), fileOf('b.txt')]);
    await uploadOf('a.txt');
    await uploadOf('b.txt');
  });

  it('stops a file that is cancelled, without an alert, and continues with the next', async () => {
    await open();
    await drop(fileOf('1.bin'), fileOf('2.bin'), fileOf('3.bin'));
    const first = await uploadOf('1.bin');
    await userEvent.click(rowOf('1.bin').getByRole('button', { name: 'Cancel 1.bin' }));
    expect(first.isAborted()).toBe(true);
    expect(await rowOf('1.bin').findByText('Cancelled')).toBeVisible();
    await uploadOf('3.bin');
    expect(alert).not.toHaveBeenCalled();
  });

  it('never sends a file that is cancelled while it waits', async () => {
    await open();
    await drop(fileOf('1.bin'), fileOf('2.bin'), fileOf('3.bin'));
    await userEvent.click(rowOf('3.bin').getByRole('button', { name: 'Cancel 3.bin' }));
    await finish('1.bin');
    expect(rowOf('3.bin').getByText('Cancelled')).toBeVisible();
    expect(server.uploads.map(({ file }) => file.name)).toEqual(['1.bin', '2.bin']);
  });

  it('alerts in the words of the specification when it fails, says why in the row, and can be tried again', async () => {
    await open();
    await drop(fileOf('a.txt'));
    const upload = await uploadOf('a.txt');
    await step(() => upload.answer(refusal('storage_full')));
    await waitFor(() => expect(alert).toHaveBeenCalledExactlyOnceWith('Error scanning file. Please try again.'));
    expect(
      rowOf('a.txt').getByText('The server’s storage is full. Try again later, or tell support if it keeps happening.'),
    ).toBeVisible();

    await userEvent.click(rowOf('a.txt').getByRole('button', { name: 'Retry a.txt' }));
    await waitFor(() => expect(server.uploads).toHaveLength(2));
    await step(() => server.uploads[1]?.answer(answerWith({ filename: 'a.txt' })));
    expect(await panel().findByRole('heading', { name: 'a.txt: clean' })).toBeVisible();
  });

  it('alerts once for a run of failures', async () => {
    await open();
    await drop(fileOf('a.txt'), fileOf('b.txt'), fileOf('c.txt'));
    for (const name of ['a.txt', 'b.txt', 'c.txt']) {
      const upload = await uploadOf(name);
      await step(() => upload.breakOff());
    }
    await waitFor(() => expect(rowOf('c.txt').getByText('Network error. Please try again.')).toBeVisible());
    await waitFor(() => expect(alert).toHaveBeenCalledOnce());
  });

  it('does not send what is larger than the server takes, and says how large that is', async () => {
    await open();
    await drop(fileOf('disk.img', UPLOAD_MAXIMUM + 1024 ** 3));
    expect(rowOf('disk.img').getByText('This file has 3 GB. We scan files up to 2 GB.')).toBeVisible();
    expect(server.uploads).toHaveLength(0);
  });

  it('asks before the tab closes while a file is on its way, and not after', async () => {
    const close = () => {
      const event = new Event('beforeunload', { cancelable: true });
      window.dispatchEvent(event);
      return event.defaultPrevented;
    };
    await open();
    expect(close()).toBe(false);
    await drop(fileOf('a.txt'));
    const upload = await uploadOf('a.txt');
    expect(close()).toBe(true);
    await step(() => upload.answer(answerWith({ filename: 'a.txt' })));
    expect(close()).toBe(false);
  });

  describe('while the server has the file', () => {
    const told = (upload: FakeUpload, progress: ScanProgress) =>
      step(() =>
        server.sockets.at(-1)?.say({
          kind: 'event',
          id: null,
          event: { kind: 'scan_progress', scan_id: scanOf().id, upload_key: upload.key ?? null, progress },
        }),
      );
    const reading = { stage: 'reading', engine: 'YARA-X', share: 1, members_read: 0, members_found: 0 } as const;
    let close: () => void;

    async function scanning(name: string): Promise<FakeUpload> {
      close = keepEventsOpen('token-1');
      await open();
      await drop(fileOf(name));
      const upload = await uploadOf(name);
      await step(() => upload.progress(1));
      return upload;
    }

    afterEach(() => close());

    it('tells its place, how much is scanned, and how much is unpacked', async () => {
      const upload = await scanning('a.zip');
      const row = rowOf('a.zip');
      await told(upload, { stage: 'queued', place: 3 });
      expect(row.getByText('Number 3 in line')).toBeVisible();
      await told(upload, { stage: 'queued', place: 1 });
      expect(row.getByText('Next in line')).toBeVisible();
      expect(row.getByRole('progressbar', { name: 'Scan of a.zip' })).not.toHaveAttribute('value');
      await told(upload, { ...reading, share: 0.4 });
      expect(row.getByText('Scanning 40%')).toBeVisible();
      expect(row.getByRole('progressbar', { name: 'Scan of a.zip' })).toHaveValue(0.4);
      await told(upload, { ...reading, members_found: 1 });
      expect(row.getByText('Unpacking one file')).toBeVisible();
      await told(upload, { ...reading, members_read: 12, members_found: 48 });
      expect(row.getByText('Unpacked 12 of 48 files')).toBeVisible();
      expect(row.getByRole('progressbar', { name: 'Scan of a.zip' })).toHaveValue(0.25);

      await step(() => upload.answer(answerWith({ filename: 'a.zip' })));
      await told(upload, { ...reading, share: 0.9 });
      expect(panel().getByRole('heading', { name: 'a.zip: clean' })).toBeVisible();
    });

    it('can be taken back: the server says when nothing of it is left', async () => {
      const upload = await scanning('a.zip');
      const gone = Promise.withResolvers<void>();
      server.on({ ...cancelUpload, path: `/antivirus/uploads/${upload.key}` }, async () => {
        await gone.promise;
        return reply(cancelUpload, undefined);
      });
      await userEvent.click(rowOf('a.zip').getByRole('button', { name: 'Cancel a.zip' }));
      expect(rowOf('a.zip').getByText('Cancelling…')).toBeVisible();
      await told(upload, { ...reading, share: 0.9 });
      expect(rowOf('a.zip').getByText('Cancelling…')).toBeVisible();
      expect(server.calls.at(-1)?.path).toBe(`/antivirus/uploads/${upload.key}`);
      gone.resolve();
      await step(() => upload.answer(refusal('upload_cancelled')));
      expect(rowOf('a.zip').getByText('Cancelled')).toBeVisible();
      expect(upload.isAborted()).toBe(false);
      expect(alert).not.toHaveBeenCalled();
    });

    // proves: attack-C.18-2
    it('is taken back later where the server cannot do it now, and until then says Cancelling', async () => {
      const upload = await scanning('a.zip');
      vi.useFakeTimers({ shouldAdvanceTime: true });
      const address = { ...cancelUpload, path: `/antivirus/uploads/${upload.key}` as const };
      const tries = () => server.calls.filter(({ path }) => path === address.path).length;
      server.on(address, refusal('unavailable', { retry_after: 7 }));
      await step(() => rowOf('a.zip').getByRole('button', { name: 'Cancel a.zip' }).click());
      expect(rowOf('a.zip').getByText('Cancelling…')).toBeVisible();
      await step(() => vi.advanceTimersByTime(6_000));
      expect(tries()).toBe(1);
      server.on(address, reply(cancelUpload, undefined));
      await step(() => vi.advanceTimersByTime(1_500));
      expect(tries()).toBe(2);
      expect(rowOf('a.zip').getByText('Cancelling…')).toBeVisible();
      vi.useRealTimers();
      await step(() => upload.answer(refusal('upload_cancelled')));
      expect(rowOf('a.zip').getByText('Cancelled')).toBeVisible();
    });

    it('shows the verdict when that was faster than the cancellation', async () => {
      const upload = await scanning('a.zip');
      server.on({ ...cancelUpload, path: `/antivirus/uploads/${upload.key}` }, refusal('not_found'));
      await userEvent.click(rowOf('a.zip').getByRole('button', { name: 'Cancel a.zip' }));
      expect(await rowOf('a.zip').findByRole('button', { name: 'Cancel a.zip' })).toBeVisible();
      await step(() => upload.answer(answerWith({ filename: 'a.zip', scan_status: 'infected', threat_detected: 'Eicar' })));
      expect(panel().getByRole('heading', { name: 'a.zip: infected' })).toBeVisible();
    });
  });

  it('waits for a busy server, and tries again without a press', async () => {
    vi.useFakeTimers({ shouldAdvanceTime: true });
    await open();
    await drop(fileOf('a.txt'), fileOf('b.txt'), fileOf('c.txt'));
    const first = await uploadOf('a.txt');
    await step(() => first.answer(refusal('too_many_requests')));
    expect(rowOf('a.txt').getByText('The scanner is busy. We’ll try again soon.')).toBeVisible();
    expect(server.uploads).toHaveLength(2);
    await step(() => vi.advanceTimersByTime(5_000));
    expect(server.uploads.map(({ file }) => file.name)).toEqual(['a.txt', 'b.txt', 'a.txt']);
    expect(server.uploads[2]?.key).not.toBe(first.key);
    expect(alert).not.toHaveBeenCalled();
    vi.useRealTimers();
  });

  it('clears what has ended', async () => {
    await open();
    await drop(fileOf('a.txt'));
    await finish('a.txt');
    await userEvent.click(screen.getByRole('button', { name: 'Close summary' }));
    expect(screen.queryByRole('region', { name: 'Uploads' })).not.toBeInTheDocument();
  });
});

describe('many files at once', () => {
  const names = Array.from({ length: 12 }, (_, index) => `${index + 1}.bin`);

  /** Answers every upload as it comes, as `partsOf` says. */
  async function answerAll(partsOf: (name: string) => Partial<Scan>) {
    for (const name of names) await finish(name, partsOf(name));
  }

  it('gives one summary, and the results once, the infected and the pending ones first', async () => {
    await open();
    await drop(...names.map((name) => fileOf(name)));
    expect(panel().getByRole('heading', { name: '0 of 12 files checked' })).toBeVisible();
    expect(panel().getByRole('progressbar', { name: 'Progress of all files' })).toHaveValue(0);
    await answerAll((name) => {
      if (name === '3.bin') return { scan_status: 'infected', threat_detected: 'Trojan' };
      if (name === '5.bin') return { scan_status: 'pending', status_detail: 'encrypted' };
      return name === '7.bin' ? { scan_status: 'infected', threat_detected: 'EICAR-Test-File', is_test_file: true } : {};
    });
    expect(panel().getByRole('heading', { name: '9 clean, 1 infected, 1 harmless test file, 1 pending' })).toBeVisible();
    expect(panel().getByText('Don’t open 3.bin. Delete it from your device.')).toBeVisible();
    expect(panel().queryByRole('listitem')).not.toBeInTheDocument();
    expect(panel().getByRole('link', { name: 'What to do' })).toBeVisible();

    const history = within(screen.getByRole('region', { name: 'Scan history' }));
    const results = within(history.getByRole('list', { name: 'Just scanned' }));
    const rows = () => textsOf(results.getAllByRole('listitem'));
    expect(rows()[0]).toContain('3.bin');
    expect(rows()[1]).toContain('7.bin');
    expect(rows()[1]).toContain('Infected (test)');
    expect(rows()[2]).toContain('5.bin');
    expect(rows()).toHaveLength(8);
    await userEvent.click(history.getByRole('button', { name: 'Show 4 more clean files' }));
    expect(rows()).toHaveLength(12);
    for (const name of names) expect(history.getAllByText(name)).toHaveLength(1);
  });

  it('cancels everything at once: what waits is never sent, and the server forgets the rest', async () => {
    await open();
    await drop(...names.map((name) => fileOf(name)));
    await uploadOf('2.bin');
    await userEvent.click(panel().getByRole('button', { name: 'Cancel all' }));
    expect(await panel().findByRole('heading', { name: '12 cancelled' })).toBeVisible();
    expect(server.uploads).toHaveLength(2);
    expect(server.uploads.every((upload) => upload.isAborted())).toBe(true);
    expect(server.calls.filter(({ path }) => path.startsWith('/antivirus/uploads/'))).toHaveLength(2);
  });

  it('takes the files of a dropped folder and of its folders', async () => {
    await open();
    const fileEntry = (name: string) => ({
      isFile: true,
      isDirectory: false,
      file: (resolve: (file: File) => void) => resolve(fileOf(name)),
    });
    const folder = (...inside: object[]) => ({
      isFile: false,
      isDirectory: true,
      createReader() {
        // A browser answers a folder in parts.
        const parts = [inside.slice(0, 1), inside.slice(1), []];
        return { readEntries: (resolve: (entries: object[]) => void) => resolve(parts.shift() ?? []) };
      },
    });
    const broken = {
      isFile: true,
      isDirectory: false,
      file: (_: unknown, reject: (error: Error) => void) => reject(new Error('no')),
    };
    const entry = folder(fileEntry('a.txt'), folder(fileEntry('b.txt'), fileEntry('c.txt')), broken);
    const items = [{ kind: 'file', getAsFile: () => null, webkitGetAsEntry: () => entry }];
    fireEvent.drop(screen.getByRole('group', { name: 'Files to scan' }), { dataTransfer: { items, types: ['Files'] } });
    expect(await screen.findByRole('heading', { name: '0 of 3 files checked' })).toBeVisible();
    await uploadOf('a.txt');
    await uploadOf('b.txt');
    expect(screen.getByText(/^Your browser couldn’t open some of these files/u)).toBeVisible();
  });

  it('takes a folder from the picker', async () => {
    await open();
    const picker = screen.getByLabelText('Choose a folder to scan');
    expect(picker).toHaveProperty('webkitdirectory', true);
    fireEvent.change(picker, { target: { files: [fileOf('a.txt'), fileOf('b.txt')] } });
    expect(await screen.findByRole('heading', { name: '0 of 2 files checked' })).toBeVisible();
  });
});
