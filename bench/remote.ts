// Compares remote support with MeshCentral, both over TLS on this machine: transferred bytes of the portal, warm start, memory, and time from key to pixel.
// Limits: transfer 0.15x, start 0.8x, memory 0.9x, key to pixel 0.35x (p95 0.6x) of MeshCentral and 1.25x of direct VNC. `node bench/remote.ts [ROUNDS]` (default 5) prints medians and writes
// remote.json. Needs npm run build once, Chromium, HAProxy, openssl, Xvfb, xterm, x11vnc, and npm's registry the first time (or MESHCENTRAL, see peers/mesh-central.ts).
// No other X desktop may run, because MeshCentral's agent chooses one itself.
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { type Browser, chromium, type Page } from '@playwright/test';
import { FLAGS, signInto } from './full-account.ts';
import { signInToMeshCentral, startMeshCentral, VERSION } from './peers/mesh-central.ts';
import { onMeshDesktop } from './peers/mesh-desktop.ts';
import { memoryOf } from './process-memory.ts';
import { keysToPixels, measureControl, startDesktop } from './remote-control.ts';
import { keepResult, median } from './server.ts';
import { type Stopped, stopping } from './stopping.ts';
import { startOurs } from './tls.ts';

const ROUNDS = Number(process.argv[2] ?? 5);
// The certificates are self-signed, for this machine and one hour.
process.env['NODE_TLS_REJECT_UNAUTHORIZED'] = '0';
/** Memory is read after this time without requests, in ms: directly after a request it depends on the last garbage collection. */
const SETTLED_MS = 25_000;
const INSECURE = { ignoreHTTPSErrors: true };

const folder = mkdtempSync(join(tmpdir(), 'palisade-remote-bench-'));

async function launch(stopped: Stopped): Promise<Browser> {
  const browser = await chromium.launch({
    executablePath: process.env['CHROMIUM_PATH'] ?? '/usr/bin/chromium',
    args: [...FLAGS, '--ignore-certificate-errors'],
  });
  stopped({ stop: () => browser.close() });
  return browser;
}

/** Transferred bytes of a reload with an empty cache, until the network is idle. */
async function transferOf(page: Page): Promise<number> {
  const client = await page.context().newCDPSession(page);
  await client.send('Network.enable');
  await client.send('Network.setCacheDisabled', { cacheDisabled: true });
  let bytes = 0;
  client.on('Network.loadingFinished', ({ encodedDataLength }) => {
    bytes += encodedDataLength;
  });
  await page.reload();
  await page.waitForLoadState('networkidle');
  await client.detach();
  return bytes;
}

/** Measures Palisade's server with the technician's portal. */
const measureOurs = (home: string) =>
  stopping(async (stopped) => {
    const data_dir = join(home, 'data');
    mkdirSync(data_dir, { recursive: true });
    const DATA_DIR = join(home, 'kept');
    // The first start creates keys and tables. The second start is measured, as with the peer.
    await (await startOurs(home, data_dir, { DATA_DIR })).stop();
    mkdirSync(data_dir, { recursive: true });
    const server = stopped(await startOurs(home, data_dir, { DATA_DIR }));
    const browser = await (await launch(stopped)).newContext(INSECURE);
    await signInto(server.url, await server.signIn())(browser);
    const page = await browser.newPage();
    await page.goto(`${server.url}/remote`);
    const page_bytes = await transferOf(page);
    await pause(SETTLED_MS);
    return { page_bytes, memory_mb: memoryOf(server.pids), started_ms: server.started_ms };
  });

const measurePeer = (home: string) =>
  stopping(async (stopped) => {
    const server = stopped(await startMeshCentral(home));
    const browser = await launch(stopped);
    const page = await (await browser.newContext(INSECURE)).newPage();
    await signInToMeshCentral(page, server.url);
    const page_bytes = await transferOf(page);
    await pause(SETTLED_MS);
    const memory_mb = memoryOf(server.pids);
    await browser.close();
    const desktop = stopped(await startDesktop(home));
    const keys_ms = await onMeshDesktop(home, server.url, desktop.display, keysToPixels);
    // MeshCentral's agent chooses the screen, and may have chosen another one.
    if (desktop.arrivals().length !== keys_ms.length + 1) throw new Error("MeshCentral's agent typed on another screen");
    return { page_bytes, memory_mb, started_ms: server.started_ms, keys_ms };
  });

const PEER_TRIES = 4;
/** Measures the peer, and starts over if MeshCentral's agent sends no first picture, which happens sometimes. */
async function patientPeer(home: string, tries = 1): ReturnType<typeof measurePeer> {
  try {
    return await measurePeer(`${home}-${tries}`);
  } catch (error) {
    if (tries === PEER_TRIES) throw error;
    console.log(`MeshCentral again: ${String(error)}`);
    return await patientPeer(home, tries + 1);
  }
}

/** Quantile of the values. */
const quantile = (values: readonly number[], share: number) =>
  values.toSorted((one, other) => one - other)[Math.min(values.length - 1, Math.floor(values.length * share))] ?? Number.NaN;

interface Round {
  ours: Awaited<ReturnType<typeof measureOurs>>;
  peer: Awaited<ReturnType<typeof measurePeer>>;
  control: Awaited<ReturnType<typeof measureControl>>;
}

try {
  const rounds: Round[] = [];
  for (let round = 1; round <= ROUNDS; round += 1)
    rounds.push({
      ours: await measureOurs(join(folder, `ours-${round}`)),
      peer: await patientPeer(join(folder, `peer-${round}`)),
      control: await measureControl(join(folder, `control-${round}`)),
    });
  /** One line of the result: medians of Palisade and the peer, and the maximum `bar` of their ratio. */
  const line = (bar: number, our: (one: Round) => number, their: (one: Round) => number) => {
    const [ours, beside] = [median(rounds.map(our)), median(rounds.map(their))];
    return { ours, beside, ratio: ours / beside, bar, reached: ours / beside <= bar };
  };
  const keysOf = (share: number) => (one: Round) => quantile(one.control.tunnel_ms, share);
  const results = {
    portal_bytes: line(
      0.15,
      ({ ours }) => ours.page_bytes,
      ({ peer }) => peer.page_bytes,
    ),
    warm_start_ms: line(
      0.8,
      ({ ours }) => ours.started_ms,
      ({ peer }) => peer.started_ms,
    ),
    memory_mb: line(
      0.9,
      ({ ours }) => ours.memory_mb,
      ({ peer }) => peer.memory_mb,
    ),
    vnc_key_to_pixel_p50_ms: line(1.25, keysOf(0.5), ({ control }) => quantile(control.direct_ms, 0.5)),
    mesh_key_to_pixel_p50_ms: line(0.35, keysOf(0.5), ({ peer }) => quantile(peer.keys_ms, 0.5)),
    mesh_key_to_pixel_p95_ms: line(0.6, keysOf(0.95), ({ peer }) => quantile(peer.keys_ms, 0.95)),
  };
  keepResult('remote', {
    what: `remote support beside MeshCentral ${VERSION}, both over TLS (ours by HAProxy in front, whose memory and start count): medians`,
    rounds: ROUNDS,
    results,
  });
  console.table(results);
} finally {
  rmSync(folder, { recursive: true, force: true });
}
