// Measures remote support beside MeshCentral, both over TLS on this machine: first frame, relayed, age of the picture, key to pixel, transfer of the portal, warm start, memory.
// Bars: first frame 1 s, relayed 1.5x, age 200 ms, transfer 0.15x, start 0.8x, memory 0.9x, key to pixel 0.35x (p95 0.6x) MeshCentral, and those of remote-control.ts. `node bench/remote.ts [ROUNDS]` (default 5) prints medians and keeps
// results/remote.json. Needs npm start once (for the build), Chromium, coturn, HAProxy, openssl, Xvfb, xterm, x11vnc, and npm's registry the first time (or MESHCENTRAL, see peers/mesh-central.ts).
// No other X desktop may run: MeshCentral's agent looks for one itself.
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { loadavg, tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { banner, drawClock, meet, picture, relayOnly, SHARES, shareOwnTab, sharing } from '@palisade/e2e/session';
import { type Browser, chromium, expect, type Page } from '@playwright/test';
// biome-ignore lint/style/noRestrictedImports: the relay of the server's tests, started as it is there.
import { startRelay } from '../server/test/coturn-process.ts';
import { freePort } from './free-port.ts';
import { FLAGS } from './full-account.ts';
import { signInToMeshCentral, startMeshCentral, VERSION } from './peers/mesh-central.ts';
import { onMeshDesktop } from './peers/mesh-desktop.ts';
import { memoryOf } from './process-memory.ts';
import { at, type ControlRound, keysToPixels, linesOf, measureControl, startDesktop, withoutBar } from './remote-control.ts';
import { describeMachine, median, RESULTS } from './server.ts';
import { type Stopped, stopping } from './stopping.ts';
import { startOurs } from './tls.ts';

const ROUNDS = Number(process.argv[2] ?? 5);
// Certificates are of this machine, for an hour.
process.env['NODE_TLS_REJECT_UNAUTHORIZED'] = '0';
const SECRET = 'a-secret-that-both-have';
/** Frames whose age is read in a round. */
const FRAMES = 120;
/** Memory is read after this time without a request: directly after one it shows what the last collection of garbage left. */
const SETTLED_MS = 25_000;
const INSECURE = { ignoreHTTPSErrors: true };

const folder = mkdtempSync(join(tmpdir(), 'palisade-remote-bench-'));
const [load_before = 0] = loadavg();

async function launch(stopped: Stopped, more: readonly string[] = []): Promise<Browser> {
  const browser = await chromium.launch({
    executablePath: process.env['CHROMIUM_PATH'] ?? '/usr/bin/chromium',
    args: [...FLAGS, '--ignore-certificate-errors', ...more],
  });
  stopped({ stop: () => browser.close() });
  return browser;
}

/** Bytes that come over the network for a page that is opened with nothing in the cache, until nothing comes any more. */
async function transferOf(page: Page, open: () => Promise<unknown>): Promise<number> {
  const client = await page.context().newCDPSession(page);
  await client.send('Network.enable');
  await client.send('Network.setCacheDisabled', { cacheDisabled: true });
  let bytes = 0;
  client.on('Network.loadingFinished', ({ encodedDataLength }) => {
    bytes += encodedDataLength;
  });
  await open();
  await page.waitForLoadState('networkidle');
  await client.detach();
  return bytes;
}

/** When the picker was answered, by the clock of this machine. */
async function notePicked(page: Page): Promise<void> {
  await page.addInitScript(() => {
    const { mediaDevices } = navigator;
    const real = mediaDevices.getDisplayMedia.bind(mediaDevices);
    mediaDevices.getDisplayMedia = async (options) => {
      const stream = await real(options);
      Object.assign(window, { pickedAt: performance.timeOrigin + performance.now() });
      return stream;
    };
  });
}

/** When the first frame of a picture was shown, by the same clock. */
async function noteFirstFrame(page: Page): Promise<void> {
  await page.addInitScript(() => {
    const seen = new WeakSet<HTMLVideoElement>();
    const look = () => {
      for (const video of document.querySelectorAll('video')) {
        if (seen.has(video)) continue;
        seen.add(video);
        video.requestVideoFrameCallback((at) => {
          if (!('firstFrameAt' in window)) Object.assign(window, { firstFrameAt: performance.timeOrigin + at });
        });
      }
      requestAnimationFrame(look);
    };
    look();
  });
}

/** A picture that is shown anew is another element: an old one is never asked for frames for ever. */
const AGES_PATIENCE_MS = 60_000;

const noted = (page: Page, name: string) => page.evaluate((key) => Number(Reflect.get(window, key)), name);

/** Age of each of the next frames when it is shown, in ms: the clock that drawClock draws, read from one row of pixels. */
async function agesOf(page: Page): Promise<number[]> {
  return await picture(page).evaluate(
    (video, { frames, patience }) =>
      new Promise<number[]>((resolve, reject) => {
        if (!(video instanceof HTMLVideoElement)) return reject(new Error('no picture'));
        const ages: number[] = [];
        setTimeout(() => reject(new Error(`only ${ages.length} frames came`)), patience);
        const context = Object.assign(document.createElement('canvas'), { width: 1, height: 1 }).getContext('2d', {
          willReadFrequently: true,
        });
        if (!context) return reject(new Error('no canvas'));
        const read = () => {
          const now = Date.now() & 0xffff;
          const { videoWidth: width, videoHeight: height } = video;
          if (context.canvas.width !== width) context.canvas.width = width;
          context.drawImage(video, 0, Math.round((30 / 800) * height), width, 1, 0, 0, width, 1);
          const { data } = context.getImageData(0, 0, width, 1);
          const bits = Array.from({ length: 18 }, (_, bit) => (data[Math.round(((bit + 0.5) / 18) * width) * 4] ?? 0) > 127);
          const shown = bits.slice(1, 17).reduce((sum, isOn, bit) => sum + (isOn ? 2 ** bit : 0), 0);
          if (bits[0] === true && bits[17] === false) ages.push((now - shown + 0x10000) & 0xffff);
          if (ages.length < frames) video.requestVideoFrameCallback(read);
          else resolve(ages);
        };
        video.requestVideoFrameCallback(read);
      }),
    { frames: FRAMES, patience: AGES_PATIENCE_MS },
  );
}

/** One session on a server of its own, from the code to a picture. */
const session = (name: string, isRelayed: boolean) =>
  stopping(async (stopped) => {
    const home = join(folder, name);
    mkdirSync(home);
    const data_dir = join(home, 'data');
    mkdirSync(data_dir);
    const port = await freePort();
    if (isRelayed) stopped(await startRelay(SECRET, port));
    const environment = isRelayed ? { TURN_URL: `turn:127.0.0.1:${port}`, TURN_SECRET: SECRET } : {};
    // The first start makes keys and tables; what counts is the second, as with the peer.
    const keep = join(home, 'kept');
    await (await startOurs(home, data_dir, { ...environment, DATA_DIR: keep })).stop();
    mkdirSync(data_dir, { recursive: true });
    const server = stopped(await startOurs(home, data_dir, { ...environment, DATA_DIR: keep }));
    const browsers = [await launch(stopped), await launch(stopped, SHARES)] as const;
    const technician = await (await browsers[0].newContext({ baseURL: server.url, ...INSECURE })).newPage();
    const { customer } = await meet(technician, browsers[1], server.url, INSECURE);
    await noteFirstFrame(technician);
    await shareOwnTab(customer);
    await notePicked(customer);
    if (isRelayed) for (const page of [technician, customer]) await relayOnly(page);
    const portal_bytes = await transferOf(technician, () => technician.reload());
    await customer.reload();
    await pause(SETTLED_MS);
    const memory_mb = memoryOf(server.pids);
    await drawClock(customer);
    await banner(customer).getByRole('button', { name: 'Approve', exact: true }).click();
    await expect(sharing(customer)).toContainText('sees what you share.', { timeout: 30_000 });
    await expect(picture(technician)).toBeVisible({ timeout: 30_000 });
    const ages = await agesOf(technician);
    const first_frame_ms = (await noted(technician, 'firstFrameAt')) - (await noted(customer, 'pickedAt'));
    return { first_frame_ms, ages, portal_bytes, memory_mb, started_ms: server.started_ms };
  });

const peer = (name: string) =>
  stopping(async (stopped) => {
    const home = join(folder, name);
    const server = stopped(await startMeshCentral(home));
    const browser = await launch(stopped);
    const page = await (await browser.newContext(INSECURE)).newPage();
    await signInToMeshCentral(page, server.url);
    const main_bytes = await transferOf(page, () => page.reload());
    await pause(SETTLED_MS);
    const memory_mb = memoryOf(server.pids);
    await browser.close();
    const desktop = stopped(await startDesktop(home));
    const keys_ms = await onMeshDesktop(home, server.url, desktop.display, keysToPixels);
    // The agent chooses the screen: of several on this machine it might have been another one.
    if (desktop.arrivals().length !== keys_ms.length + 1) throw new Error("MeshCentral's agent typed on another screen");
    return { main_bytes, memory_mb, started_ms: server.started_ms, keys_ms };
  });

const PEER_TRIES = 4;
let peer_again = 0;

/** MeshCentral's agent sometimes sends no first picture: that is tried again from the beginning, and counted. */
async function patientPeer(name: string, tries = 1): ReturnType<typeof peer> {
  try {
    return await peer(`${name}-${tries}`);
  } catch (error) {
    if (tries === PEER_TRIES) throw error;
    console.log(`MeshCentral again: ${String(error)}`);
    peer_again += 1;
    return await patientPeer(name, tries + 1);
  }
}

/** Measurements of a round. */
interface Round {
  direct: Awaited<ReturnType<typeof session>>;
  relayed: Awaited<ReturnType<typeof session>>;
  peer: Awaited<ReturnType<typeof peer>>;
  control: ControlRound;
}

try {
  const rounds: Round[] = [];
  for (let round = 1; round <= ROUNDS; round += 1) {
    const one = {
      direct: await session(`direct-${round}`, false),
      relayed: await session(`relayed-${round}`, true),
      peer: await patientPeer(`peer-${round}`),
      control: await measureControl(join(folder, `control-${round}`)),
    };
    rounds.push(one);
    console.log(
      `round ${round}: first frame ${Math.round(one.direct.first_frame_ms)} ms, relayed ${Math.round(one.relayed.first_frame_ms)} ms`,
    );
  }
  const of = (read: (one: (typeof rounds)[number]) => number) => median(rounds.map(read));
  /** One line of the bars: ours beside what it is held against, `bar` being the most that their ratio, or ours where there is nothing beside it, may be. */
  const line = (ours: number, bar: number, beside?: number) => {
    const measured = beside === undefined ? ours : ours / beside;
    return { ours, ...(beside === undefined ? {} : { beside, ratio: measured }), bar, reached: measured <= bar };
  };
  const first_frame_ms = of(({ direct }) => direct.first_frame_ms);
  const results = {
    first_frame_ms: line(first_frame_ms, 1_000),
    first_frame_relayed_ms: line(
      of(({ relayed }) => relayed.first_frame_ms),
      1.5,
      first_frame_ms,
    ),
    glass_to_glass_p50_ms: line(
      of(({ direct }) => at(direct.ages, 0.5)),
      200,
    ),
    portal_bytes: line(
      of(({ direct }) => direct.portal_bytes),
      0.15,
      of((one) => one.peer.main_bytes),
    ),
    warm_start_ms: line(
      of(({ direct }) => direct.started_ms),
      0.8,
      of((one) => one.peer.started_ms),
    ),
    memory_mb: line(
      of(({ direct }) => direct.memory_mb),
      0.9,
      of((one) => one.peer.memory_mb),
    ),
    ...linesOf(rounds.map(({ control }) => control)),
    mesh_key_to_pixel_p50_ms: line(
      of(({ control }) => at(control.tunnel_ms, 0.5)),
      0.35,
      of((one) => at(one.peer.keys_ms, 0.5)),
    ),
    mesh_key_to_pixel_p95_ms: line(
      of(({ control }) => at(control.tunnel_ms, 0.95)),
      0.6,
      of((one) => at(one.peer.keys_ms, 0.95)),
    ),
  };
  const without_bar = {
    ...withoutBar(rounds.map(({ control }) => control)),
    glass_to_glass_p95_ms: of(({ direct }) => at(direct.ages, 0.95)),
    glass_to_glass_relayed_p50_ms: of(({ relayed }) => at(relayed.ages, 0.5)),
  };
  const kept = {
    what: `remote support beside MeshCentral ${VERSION}, both over TLS (ours by HAProxy in front, whose memory and start count): medians`,
    at: new Date().toISOString(),
    rounds: ROUNDS,
    peer_again,
    machine: { ...describeMachine(), load_before, load_after: loadavg()[0] ?? 0 },
    results,
    without_bar,
  };
  mkdirSync(RESULTS, { recursive: true });
  writeFileSync(join(RESULTS, 'remote.json'), `${JSON.stringify(kept, null, 2)}\n`);
  console.table(results);
  console.table(without_bar);
} finally {
  rmSync(folder, { recursive: true, force: true });
}
