import { expect, type Page } from '@playwright/test';
import { expectAccessible, expectNothingCutOff } from './accessible.ts';
import type { Installation } from './installation.ts';
import { test } from './palisade.ts';
import { banner, drawClock, openSession, picture, readClock, SHARES, shareOwnTab, sharing, startCustomer } from './session.ts';

/** A fake microphone that beeps twice a second. */
const BEEPS = '--use-fake-device-for-media-stream';
/** Maximum amplitude of decoded silence: the last bit of 16, up or down (1 / 32767). */
const SILENCE = 0.0001;
const voice = (page: Page) => page.getByRole('region', { name: 'Talk by voice' });

/** Opens a session in which both sides may use a microphone. Both pages keep their connections and streams in `kept` for the test. */
async function openWithVoice(palisade: Installation, flags: readonly string[]) {
  const other = await startCustomer([BEEPS]);
  const permissions = ['microphone'];
  const session = await openSession(palisade, {
    flags: [...flags, BEEPS],
    permissions,
    technician: { browser: other, permissions },
  });
  for (const side of [session.technician, session.customer]) await keepPeers(side);
  return { ...session, other };
}

async function keepPeers(page: Page): Promise<void> {
  await page.addInitScript(() => {
    const kept: RTCPeerConnection[] = [];
    const microphones: MediaStreamTrack[] = [];
    Object.assign(window, { kept, microphones });
    const Real = window.RTCPeerConnection;
    window.RTCPeerConnection = class extends Real {
      constructor(configuration?: RTCConfiguration) {
        super(configuration);
        kept.push(this);
      }
    };
    const { mediaDevices } = navigator;
    const real = mediaDevices.getUserMedia.bind(mediaDevices);
    mediaDevices.getUserMedia = async (wanted) => {
      const stream = await real(wanted);
      microphones.push(...stream.getAudioTracks());
      return stream;
    };
  });
}

/** Sound that this page receives now: loudness (0 to 1), number of packets so far, and route. */
async function heardBy(page: Page): Promise<{ level: number; packets: number; way: string }> {
  return await page.evaluate(async () => {
    const heard = { level: 0, packets: 0, way: '' };
    const kept: unknown = Reflect.get(window, 'kept');
    for (const peer of Array.isArray(kept) ? kept : []) {
      if (!(peer instanceof RTCPeerConnection) || peer.connectionState !== 'connected') continue;
      const entries: Record<string, unknown>[] = [];
      (await peer.getStats()).forEach((entry: Record<string, unknown>) => void entries.push(entry));
      const inbound = entries.find(({ type, kind }) => type === 'inbound-rtp' && kind === 'audio');
      if (!inbound) continue;
      heard.level = Math.max(heard.level, Number(inbound['audioLevel'] ?? 0));
      heard.packets += Number(inbound['packetsReceived'] ?? 0);
      const chosen = entries.find(({ type }) => type === 'transport')?.['selectedCandidatePairId'];
      const pair = entries.find(({ id }) => id === chosen);
      heard.way = String(entries.find(({ id }) => id === pair?.['localCandidateId'])?.['candidateType'] ?? '');
    }
    return heard;
  });
}

const isHeardBy = (page: Page) =>
  expect.poll(async () => (await heardBy(page)).level, { intervals: [60], timeout: 30_000 }).toBeGreaterThan(10 * SILENCE);

/** Waits for `packets` packets in a row (20 ms each) without sound: a muted side still sends packets. */
async function isSilentFor(page: Page, packets = 100): Promise<void> {
  await expect(async () => {
    const { packets: first } = await heardBy(page);
    for (;;) {
      const { level, packets: now } = await heardBy(page);
      expect(level).toBeLessThan(SILENCE);
      if (now - first >= packets) return;
    }
  }).toPass({ timeout: 30_000 });
}

test('both turn their voice on, are heard once they unmute, and the picture continues', async ({ palisade }) => {
  const { technician: page, customer, browser, other } = await openWithVoice(palisade, SHARES);
  await page.reload();
  await shareOwnTab(customer);
  await customer.reload();
  await drawClock(customer);
  await banner(customer).getByRole('button', { name: 'Approve', exact: true }).click();
  await expect.poll(() => readClock(picture(page))).toEqual(expect.any(Number));
  const track = await picture(page).evaluateHandle((element) =>
    element instanceof HTMLVideoElement && element.srcObject instanceof MediaStream
      ? element.srcObject.getVideoTracks()[0]
      : undefined,
  );

  // The technician starts; the customer is asked, and both are muted.
  await voice(page).getByRole('button', { name: 'Turn my voice on' }).click();
  await expect(voice(page)).toContainText('maria has not turned their voice on. You are muted.');
  await expect(voice(customer).getByRole('alert')).toContainText('tina would like to talk with you here.');
  await voice(customer).getByRole('button', { name: 'Turn my voice on' }).click();
  await expect(voice(customer)).toContainText('You are muted: tina does not hear you. tina is muted.');
  await expect(voice(page)).toContainText('You are muted: maria does not hear you. maria is muted.');
  for (const side of [page, customer]) await isSilentFor(side, 25);

  // First one side is heard and the other is not, then the reverse.
  await voice(customer).getByRole('button', { name: 'Unmute' }).click();
  await expect(voice(page)).toContainText('You hear maria.');
  await expect(sharing(customer)).toContainText('Your microphone is on.');
  await isHeardBy(page);
  await isSilentFor(customer, 25);
  await expectAccessible(customer);
  await expectNothingCutOff(customer);
  await expectAccessible(page);
  await expectNothingCutOff(page);
  await sharing(customer).getByRole('button', { name: 'Mute', exact: true }).click();
  await isSilentFor(page);
  await voice(page).getByRole('button', { name: 'Unmute' }).click();
  await isHeardBy(customer);

  // The picture is unaffected.
  expect(await track.evaluate((held) => held?.readyState)).toBe('live');
  await expect.poll(() => readClock(picture(page))).toEqual(expect.any(Number));

  // The end of the session closes the call and both microphones.
  await sharing(customer).getByRole('button', { name: 'End session', exact: true }).click();
  await expect(sharing(customer)).toHaveCount(0);
  for (const side of [page, customer])
    await expect
      .poll(() =>
        side.evaluate(() => {
          const all: unknown = Reflect.get(window, 'microphones');
          const opened = Array.isArray(all) ? all : [];
          return opened.length > 0 && opened.at(-1).readyState === 'ended';
        }),
      )
      .toBe(true);
  await browser.close();
  await other.close();
});
