import { listScans, type Scan, scanFile } from '@palisade/contract/antivirus';
import { act, screen, waitFor } from '@testing-library/react';
import userEvent from '@testing-library/user-event';
import { beforeEach, expect, it } from 'vitest';
import { MARIA, scanOf } from '#api/fake-records.ts';
import { FakeServer, reply } from '#api/fake-server.ts';
import { startSession } from '#api/session.ts';
import { renderForTest } from '#ui/render-for-test.tsx';
import { AntivirusPage } from './antivirus-page.tsx';
import { UploadsProvider } from './uploads.tsx';

let server: FakeServer;

beforeEach(async () => {
  server = new FakeServer();
  startSession({ access_token: 'token-1', user_info: MARIA });
  server.on(listScans, reply(listScans, []));
  renderForTest(
    <UploadsProvider>
      <AntivirusPage />
    </UploadsProvider>,
  );
  await screen.findByText('No scans yet');
});

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
  expect(heard('assertive')).toBe('eicar.com: infected, Eicar. Don’t open it.');
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

// proves: product-2.8-11
it('says of a file that is not fully read what is the matter, not that it was scanned', async () => {
  await choose('locked.zip');
  await answer('locked.zip', { scan_status: 'pending', status_detail: 'encrypted' });
  expect(screen.queryByText('Scanned')).not.toBeInTheDocument();
  expect(screen.getByRole('region', { name: 'Scan history' })).toHaveTextContent(/password/u);
});
