import { type EngineStatus, readEngine, type SignatureFeedStatus } from '@palisade/contract/engine';
import { screen } from '@testing-library/react';
import userEvent from '@testing-library/user-event';
import { describe, expect, it } from 'vitest';
import { FakeServer, reply } from '#api/fake-server.ts';
import { describeDate } from '#ui/moment.tsx';
import { renderForTest } from '#ui/render-for-test.tsx';
import { EngineCard } from './engine-card.tsx';
import { describeOld, engineState } from './engine-state.ts';

const NOW = Date.parse('2026-11-20T10:00:00.000Z');
const HOUR = 3_600_000;

const ENGINE: EngineStatus['engines'][number] = {
  name: 'YARA-X',
  kind: 'native',
  note: null,
  version: '0.3.0',
  signatures_version: '43ce751f09ed',
  state: 'ready',
  processes: { ready: 2, wanted: 2 },
};
const SIGNATURES: EngineStatus['signatures'] = {
  rules: 139,
  hashes: 0,
  built_at: '2026-11-19T00:00:00.000Z',
  as_of: null,
  age_hours: null,
  last_update_at: null,
  last_outcome: null,
  failed_sources: 0,
};
const FEED: SignatureFeedStatus = {
  address: 'https://feeds.example.com/rules.zip',
  kind: 'yara',
  severity: 'alarm',
  ok: true,
  sentence: 'In use: 12 rules.',
  rules: 12,
  hashes: 0,
  left_out: [],
  left_out_total: 0,
  changed_at: '2026-11-19T00:00:00.000Z',
  confirmed_at: '2026-11-20T09:00:00.000Z',
  memory_bytes: 3 * 1024 ** 2,
};
const STATUS: EngineStatus = {
  engines: [ENGINE],
  signatures: SIGNATURES,
  limits: { upload_bytes: 2 * 1024 ** 3, unpacked_bytes: 4 * 1024 ** 3, members: 10_000, depth: 16, time_ms: 120_000 },
  found_scanner: null,
  feeds: null,
};
const fed = (hours: number, parts: Partial<EngineStatus['signatures']> = {}): EngineStatus => ({
  ...STATUS,
  signatures: { ...SIGNATURES, as_of: new Date(NOW - hours * HOUR).toISOString(), ...parts },
});
const withEngines = (...states: EngineStatus['engines'][number]['state'][]): EngineStatus => ({
  ...STATUS,
  engines: states.map((state, index) => ({ ...ENGINE, name: index === 0 ? 'YARA-X' : 'ClamAV', state })),
});

describe('the state of the scanner', () => {
  it.each<[string, EngineStatus, string, string, string]>([
    [
      'with the pack alone',
      STATUS,
      'good',
      'Ready to scan',
      `Threat definitions from ${describeDate(SIGNATURES.built_at ?? '')}.`,
    ],
    [
      'with feeds that never change',
      {
        ...STATUS,
        signatures: { ...SIGNATURES, last_update_at: SIGNATURES.built_at, last_outcome: 'The last update succeeded.' },
      },
      'good',
      'Ready to scan',
      `Threat definitions updated on ${describeDate(SIGNATURES.built_at ?? '')}.`,
    ],
    [
      'with feeds that failed from the start',
      { ...STATUS, signatures: { ...SIGNATURES, failed_sources: 1, last_outcome: 'The last update failed for 1 of 1 sources.' } },
      'attention',
      'We couldn’t update threat definitions',
      'The last update failed for 1 of 1 sources.',
    ],
    ['with fresh feeds', fed(3), 'good', 'Ready to scan', 'Threat definitions are 3 hours old.'],
    [
      'with a hash list',
      fed(0.2, { hashes: 1_000_000 }),
      'good',
      'Ready to scan',
      'Threat definitions are less than an hour old.',
    ],
    ['at 48 hours', fed(48), 'good', 'Ready to scan', 'Threat definitions are 2 days old.'],
    [
      'after 48 hours',
      fed(73, {
        failed_sources: 1,
        last_outcome: 'The last update failed for 1 of 2 sources; we still use the previous version.',
      }),
      'attention',
      'Threat definitions are 3 days old',
      'We still scan files, but may miss the newest threats. The last update failed for 1 of 2 sources; we still use the previous version.',
    ],
    ['while it starts', withEngines('starting'), 'note', 'The scanner is starting', 'Your files will wait a moment.'],
    [
      'when nothing answers',
      withEngines('down', 'down'),
      'danger',
      'The scanner isn’t responding',
      'We’ll keep your files and scan them when it’s back. They stay pending until then.',
    ],
    [
      'when one of two is down',
      withEngines('ready', 'down'),
      'attention',
      'ClamAV isn’t responding',
      'We’ll show threats as soon as one scanner finds them. Other files stay pending until both have checked them.',
    ],
  ])('%s', (_, status, tone, title, sentence) => {
    expect(engineState(status, NOW)).toEqual({ tone, title, sentence });
  });

  it.each([
    [0, 'less than an hour old'],
    [HOUR, '1 hour old'],
    [47.9 * HOUR, '47 hours old'],
    [49 * HOUR, '2 days old'],
    // A browser whose clock is behind the server's.
    [-HOUR, 'less than an hour old'],
  ])('%d ms are %s', (age, words) => {
    expect(describeOld(age)).toBe(words);
  });
});

describe('the engine card', () => {
  it('says one line, and the rest when asked', async () => {
    const server = new FakeServer();
    server.answer(readEngine, {
      ...STATUS,
      feeds: [
        {
          ...FEED,
          sentence: 'In use: 12 rules. Left out: old.yar, Everyone and 1 more.',
          left_out: [
            { name: 'old.yar', why: 'does_not_compile', detail: 'unknown module' },
            { name: 'Everyone', why: 'would_alarm', detail: 'It calls a letter infected.' },
          ],
          left_out_total: 3,
        },
        {
          ...FEED,
          address: 'https://feeds.example.com/list.txt',
          kind: 'sha256',
          severity: 'note',
          ok: false,
          sentence: 'Its server answered 500.',
          changed_at: null,
          confirmed_at: null,
          memory_bytes: null,
        },
      ],
    });
    renderForTest(<EngineCard />);
    expect(screen.getByRole('status', { name: 'Loading the scanner status' })).toBeVisible();
    expect(await screen.findByText('Ready to scan')).toBeVisible();
    expect(screen.getByText(/^Scanner ready\. Threat definitions: 43ce751f09ed\./)).not.toBeVisible();
    await userEvent.click(screen.getByText('Details'));
    expect(screen.getByText(/^Scanner ready\. Threat definitions: 43ce751f09ed\./)).toBeVisible();
    expect(screen.getByText(/Archives up to 16 levels, 10,000 files, and 4 GB\./)).toBeVisible();
    expect(screen.getByText('https://feeds.example.com/rules.zip')).toBeVisible();
    const source = screen.getByText('https://feeds.example.com/rules.zip').parentElement;
    expect(source).toHaveTextContent(/Updated .+\. Checked for updates .+\. Uses 3 MB of memory per process\./);
    await userEvent.click(screen.getByText('3 parts aren’t used'));
    expect(screen.getByText(/^old\.yar does not compile\./)).toBeVisible();
    expect(screen.getByText(/^Everyone flags harmless files\./)).toBeVisible();
    expect(screen.getByText('And 1 more.')).toBeVisible();
    expect(screen.getByText('Source failed').parentElement).toHaveTextContent(
      'Its server answered 500. Its findings are notes, not alarms.',
    );
  });

  it.each([
    [
      true,
      null,
      'Found on this server',
      /It also checks every file\. To require it, set SCANNER_URL to its address; to skip it, set none\./,
    ],
    [false, 'set "AlertEncrypted yes"', 'Found but not used', /Its self-test failed: set "AlertEncrypted yes"\./],
  ])('says that a clamd was found (used: %s)', async (used, reason, title, sentence) => {
    const address = 'clamd+unix:///var/run/clamav/clamd.ctl';
    new FakeServer().on(readEngine, reply(readEngine, { ...STATUS, found_scanner: { address, used, reason } }));
    renderForTest(<EngineCard />);
    await userEvent.click(await screen.findByText('Details'));
    const facts = screen.getByText(title).parentElement;
    expect(facts).toHaveTextContent(address);
    expect(facts).toHaveTextContent(sentence);
  });

  it.each([
    ['native', null, 'Scanner ready. Threat definitions: 43ce751f09ed.'],
    ['wasm', null, 'Scanner ready. Threat definitions: 43ce751f09ed. It is the WebAssembly build.'],
    [
      'wasm',
      'The native scanner does not run on this computer: it needs GLIBC_2.34. The WebAssembly scanner reads your files instead.',
      'Scanner ready. Threat definitions: 43ce751f09ed. The native scanner does not run on this computer: it needs GLIBC_2.34. The WebAssembly scanner reads your files instead.',
    ],
  ] as const)('names the build that reads files: %s, %s', async (kind, note, sentence) => {
    new FakeServer().on(readEngine, reply(readEngine, { ...STATUS, engines: [{ ...ENGINE, kind, note }] }));
    renderForTest(<EngineCard />);
    await userEvent.click(await screen.findByText('Details'));
    expect(screen.getByText(sentence)).toBeVisible();
  });
});
