import { MantineProvider } from '@mantine/core';
import { lookAtAskPage, mayI, type AskPage as Shown } from '@palisade/contract/household';
import { act, render, screen } from '@testing-library/react';
import userEvent from '@testing-library/user-event';
import { beforeEach, expect, it, vi } from 'vitest';
import { askOf, profileOf } from '#api/fake-devices.ts';
import { FakeServer, refusal } from '#api/fake-server.ts';
import { textsOf } from '#ui/render-for-test.tsx';
import { AskPage } from './ask-page.tsx';
import { ownKeyOf } from './own-key.ts';

const KEY = 'abcdefghijklmnopqrstuvwxyz';
const MIA = profileOf();
const REFUSED = {
  ...{ id: MIA.id, device_name: 'Mia’s phone', name: 'roblox.com', service: '', category: 'time', count: 1, can_ask: true },
  last_at: '2026-11-26T08:00:00.000Z',
};
const PAGE: Shown = {
  ...{ name: 'Mia', picture: 'fox', age_group: 'child', guardians_see: 'names', guardians: ['Anna'], state: 'on' },
  ...{ paused_until: null, time_now: null, rules: MIA.rules, time_zone: 'Europe/Vienna', today: MIA.today },
  ...{ devices: [], refused: [REFUSED], asks: [] },
};

const server = FakeServer.ofEachTest();
const user = userEvent.setup();

beforeEach(() => {
  window.history.replaceState(null, '', `/ask/${KEY}`);
});

function open(parts: Partial<Shown> = {}) {
  server.answer(lookAtAskPage, { ...PAGE, ...parts });
  draw();
}

function draw() {
  render(
    <MantineProvider env="test">
      <AskPage />
    </MantineProvider>,
  );
}

it('asks once, and shows the answer with its line', async () => {
  vi.useFakeTimers({ shouldAdvanceTime: true });
  open();
  expect(
    await screen.findByText(
      /^Anna can see which websites didn’t open, and how many you asked for\. Today: \d+, and \d+ didn’t open\.$/,
    ),
  ).toBeVisible();
  const waiting = { ...PAGE, refused: [{ ...REFUSED, can_ask: false }], asks: [askOf({ name: 'roblox.com' })] };
  server.answer(mayI, waiting);
  server.answer(lookAtAskPage, waiting);
  await user.click(screen.getByRole('button', { name: 'May I open roblox.com?' }));
  expect(await screen.findByText('Sent. The answer will show here.')).toBeVisible();
  expect(screen.queryByRole('button', { name: /^May I/ })).toBeNull();
  server.answer(lookAtAskPage, { ...waiting, asks: [askOf({ name: 'roblox.com', answer: 'always', line: 'Have fun' })] });
  await act(() => vi.advanceTimersByTimeAsync(5_000));
  expect(await screen.findByText('Yes, always.')).toBeVisible();
  expect(screen.getByText('Have fun')).toBeVisible();
  expect(server.callsOf(mayI).map(({ body }) => body)).toEqual([{ key: KEY, own_key: ownKeyOf(KEY), refusal_id: REFUSED.id }]);
  expect(server.calls.filter(({ path }) => path.includes(KEY))).toEqual([]);
  vi.useRealTimers();
});

it('says what holds now, in few words for a small child', async () => {
  const [time] = MIA.rules.times;
  open({ age_group: 'small_child', guardians_see: 'counts', time_now: time ?? null, refused: [] });
  expect(await screen.findByText(/^It’s bedtime\. Websites open again at 0?6:30/)).toBeVisible();
  expect(screen.getByText(/^Anna can see how many websites you asked for, not which\. Today: /)).toBeVisible();
  expect(screen.getByRole('heading', { name: 'All good!' })).toBeVisible();
});

it('names bedtime as the reason', async () => {
  open({ refused: [{ ...REFUSED, last_at: '2026-11-26T21:00:00.000Z' }] });
  expect(await screen.findByText('It was bedtime')).toBeVisible();
});

it('says what is left without a plan', async () => {
  open({ state: 'no_plan' });
  expect(await screen.findByText('Only dangerous websites stay closed now: there is no plan.')).toBeVisible();
  expect(screen.getByText('No device has this page now.')).toBeVisible();
});

it('names the service that was refused, and why, once for all of its names', async () => {
  const video = { ...REFUSED, service: 'YouTube', category: 'time_services' };
  const chat = { ...REFUSED, id: '0193b3a0-0000-7000-8000-000000000001', name: 'www.facebook.com', service: 'Facebook' };
  open({
    refused: [
      { ...video, name: 'i.ytimg.com' },
      { ...video, id: '0193b3a0-0000-7000-8000-000000000002', name: 'youtube.com' },
      { ...chat, category: 'facebook', can_ask: false },
    ],
    asks: [askOf({ name: 'Facebook' })],
  });
  expect(await screen.findByRole('button', { name: 'May I open YouTube?' })).toBeVisible();
  const rows = textsOf(screen.getAllByRole('listitem'));
  expect(rows).toEqual([
    expect.stringMatching(/^YouTubei\.ytimg\.comClosed at this time/),
    expect.stringMatching(/^Facebookwww\.facebook\.comBlocked by a guardian.*Sent\. The answer will show here\.$/),
  ]);
});

it('sends the person of an old address to a guardian', async () => {
  server.on(lookAtAskPage, refusal('not_found'));
  draw();
  expect(await screen.findByText('This address doesn’t work any more')).toBeVisible();
});
