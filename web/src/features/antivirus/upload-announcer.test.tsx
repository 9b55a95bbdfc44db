import { listScans, type Scan, scanFile } from '@palisade/contract/antivirus';
import { act, screen, waitFor } from '@testing-library/react';
import userEvent from '@testing-library/user-event';
import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { MARIA, scanOf } from '#api/fake-records.ts';
import { FakeServer, reply } from '#api/fake-server.ts';
import { renderForTest } from '#ui/render-for-test.tsx';
import { AntivirusPage } from './antivirus-page.tsx';
import { UploadsProvider } from './uploads.tsx';

const server = FakeServer.ofEachTest(MARIA);

beforeEach(async () => {
  server.answer(listScans, []);
  renderForTest(
    <UploadsProvider>
      <AntivirusPage />
    </UploadsProvider>,
  );
  await screen.findByText('No scans yet');
});

afterEach(() => void vi.useRealTimers());

async function choose(...names: string[]) {
  await userEvent.upload(
    screen.getByLabelText('Choose files to scan'),
    names.map((name) => new File(['test'], name)),
  );
}

async function answer(name: string, scan: Partial<Scan>) {
  const upload = await waitFor(() => {
    const sent = server.uploads.find(({ file }) => file.name === name);
    if (!sent) throw new Error(`${name} was not sent`);
    return sent;
  });
  await act(async () => upload.answer(reply(scanFile, scanOf({ filename: name, ...scan }))));
}

const heard = (how: 'polite' | 'assertive') =>
  [...document.querySelectorAll(`.visually-hidden [aria-live="${how}"], .visually-hidden[aria-live="${how}"]`)]
    .map((region) => (how === 'polite' ? [...region.children].map((line) => line.textContent).join(' | ') : region.textContent))
    .join('');

// proves: product-2.6-1
it('announces each file, and the infected one assertively, at once and after all others', async () => {
  await choose('eicar.com', 'letter.txt', 'locked.zip');
  await answer('eicar.com', { scan_status: 'infected', threat_detected: 'Eicar' });
  await waitFor(() => expect(heard('assertive')).toBe('eicar.com: infected, Eicar. Don’t open it.'));
  await answer('letter.txt', {});
  await answer('locked.zip', { scan_status: 'pending', status_detail: 'encrypted' });
  expect(heard('polite')).toBe('letter.txt: clean | locked.zip: pending');
  expect(heard('assertive')).toBe('1 of 3 files is infected: eicar.com. Don’t open it.');
});

it('does not warn of an earlier file again when another one is clean', async () => {
  await choose('eicar.com');
  await answer('eicar.com', { scan_status: 'infected', threat_detected: 'Eicar' });
  await choose('letter.txt');
  await answer('letter.txt', {});
  expect(heard('assertive')).toBe('');
  expect(heard('polite')).toBe('letter.txt: clean');
});

it('says of a test file that it is harmless, as the list does, and warns of nothing', async () => {
  await choose('eicar.com');
  await answer('eicar.com', { scan_status: 'infected', threat_detected: 'Eicar', is_test_file: true });
  await waitFor(() => expect(heard('polite')).toBe('eicar.com: harmless test file'));
  expect(heard('assertive')).toBe('');
});

it('says of many files how many, now and then the sums, and the result, but of an infected one at once', async () => {
  vi.useFakeTimers({ shouldAdvanceTime: true });
  const names = Array.from({ length: 8 }, (_, place) => `photo ${place}.jpg`);
  await choose(...names);
  await waitFor(() => expect(heard('polite')).toBe('Scanning 8 files.'));
  await answer('photo 0.jpg', {});
  await answer('photo 1.jpg', { scan_status: 'infected', threat_detected: 'Worm' });
  expect(heard('polite')).toBe('Scanning 8 files.');
  expect(heard('assertive')).toBe('photo 1.jpg: infected, Worm. Don’t open it.');
  await act(async () => vi.advanceTimersByTime(20_000));
  const sums = 'Scanning 8 files. | 2 of 8 files checked. So far: 1 clean, 1 infected.';
  expect(heard('polite')).toBe(sums);
  await act(async () => vi.advanceTimersByTime(20_000));
  expect(heard('polite')).toBe(sums);
  for (const name of names.slice(2)) await answer(name, {});
  expect(heard('polite')).toBe(`${sums} | 8 files done: 7 clean, 1 infected.`);
  expect(heard('assertive')).toBe('1 of 8 files is infected: photo 1.jpg. Don’t open it.');
});

// proves: product-2.8-11
it('says of a file that is not fully read what is the matter, not that it was scanned', async () => {
  await choose('locked.zip');
  await answer('locked.zip', { scan_status: 'pending', status_detail: 'encrypted' });
  expect(screen.queryByText('Scanned')).not.toBeInTheDocument();
  expect(screen.getByRole('region', { name: 'Scan history' })).toHaveTextContent(/password/u);
});
