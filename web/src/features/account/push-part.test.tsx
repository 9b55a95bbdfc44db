import { type PushBrowser, readPush, removePush, subscribePush } from '@palisade/contract/push';
import { screen, waitFor } from '@testing-library/react';
import userEvent from '@testing-library/user-event';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { FakeServer, refusal, reply } from '#api/fake-server.ts';
import { renderForTest } from '#ui/render-for-test.tsx';
import { renewPush } from './push.queries.ts';
import { PushPart } from './push-part.tsx';

const ENDPOINT = 'https://fcm.googleapis.com/fcm/send/one';
const KEYS = { p256dh: 'B'.repeat(87), auth: 'A'.repeat(22) };

/** A browser with a push service: `permission` is what its person answers. */
function fakeBrowser(permission: NotificationPermission) {
  let subscription: { endpoint: string; toJSON: () => object; unsubscribe: () => Promise<boolean> } | null = null;
  const subscribe = vi.fn(async () => {
    subscription = {
      endpoint: ENDPOINT,
      toJSON: () => ({ endpoint: ENDPOINT, keys: KEYS }),
      unsubscribe: async () => {
        subscription = null;
        return true;
      },
    };
    return subscription;
  });
  const worker = { pushManager: { getSubscription: async () => subscription, subscribe } };
  Object.defineProperty(window, 'PushManager', { configurable: true, value: class {} });
  const value = { permission, requestPermission: async () => permission };
  Object.defineProperty(window, 'Notification', { configurable: true, value });
  Object.defineProperty(navigator, 'serviceWorker', {
    configurable: true,
    value: { getRegistration: async () => worker, register: async () => worker, ready: Promise.resolve(worker) },
  });
  return { subscribe };
}

const server = FakeServer.ofEachTest();
const HERE: PushBrowser = {
  id: '01930000-0000-7000-8000-000000000001',
  client: 'Firefox on Linux',
  created_at: '2026-11-20T10:00:00.000Z',
  current: true,
};
const ELSEWHERE: PushBrowser = {
  ...HERE,
  id: '01930000-0000-7000-8000-000000000002',
  client: 'Chrome on Android',
  current: false,
};
const removalOf = ({ id }: PushBrowser) => ({ ...removePush, path: `/push/subscriptions/${id}` as const });
const list = (subscriptions: PushBrowser[]) => server.answer(readPush, { public_key: 'server key', subscriptions });

beforeEach(() => {
  list([]);
});

afterEach(() => {
  Reflect.deleteProperty(navigator, 'serviceWorker');
  Reflect.deleteProperty(window, 'PushManager');
  Reflect.deleteProperty(window, 'Notification');
});

const toggle = () => screen.findByRole('switch', { name: 'Support answers and serious alerts' });

describe('notifications on this device', () => {
  it('are off until they are turned on, and can be turned off', async () => {
    const { subscribe } = fakeBrowser('granted');
    server.on(subscribePush, () => {
      list([HERE]);
      return reply(subscribePush, { success: true });
    });
    server.on(removalOf(HERE), () => {
      list([]);
      return reply(removePush, undefined);
    });
    renderForTest(<PushPart />);
    const user = userEvent.setup();
    expect(await toggle()).not.toBeChecked();
    expect(subscribe).not.toHaveBeenCalled();
    await user.click(await toggle());
    await waitFor(async () => expect(await toggle()).toBeChecked());
    expect(subscribe).toHaveBeenCalledWith({ userVisibleOnly: true, applicationServerKey: 'server key' });
    const bodies = () => server.calls.filter(({ method }) => method === 'POST').map(({ body }) => body);
    expect(bodies()).toEqual([{ endpoint: ENDPOINT, keys: KEYS }]);
    await user.click(await toggle());
    await waitFor(async () => expect(await toggle()).not.toBeChecked());
    expect(server.callsOf(removalOf(HERE))).toHaveLength(1);
  });

  it('are on only where both the server and the browser have them', async () => {
    const { subscribe } = fakeBrowser('granted');
    list([HERE]);
    const shown = renderForTest(<PushPart />);
    expect(await screen.findByText('Firefox on Linux (this session)')).toBeVisible();
    expect(await toggle()).not.toBeChecked();
    shown.unmount();
    await subscribe();
    // Another person used this browser before.
    list([ELSEWHERE]);
    renderForTest(<PushPart />);
    expect(await screen.findByText('Chrome on Android')).toBeVisible();
    expect(await toggle()).not.toBeChecked();
  });

  it('of other browsers are listed, and can be removed', async () => {
    fakeBrowser('granted');
    list([HERE, ELSEWHERE]);
    server.on(removalOf(ELSEWHERE), () => {
      list([HERE]);
      return reply(removePush, undefined);
    });
    renderForTest(<PushPart />);
    await userEvent.setup().click(await screen.findByRole('button', { name: 'Remove notifications of Chrome on Android' }));
    await waitFor(() => expect(screen.queryByText('Chrome on Android')).toBeNull());
  });

  it('from before are renewed for the same person, and end for another', async () => {
    const { subscribe } = fakeBrowser('granted');
    await renewPush();
    expect(server.calls).toEqual([]);
    await subscribe();
    server.answer(subscribePush, { success: true });
    await renewPush();
    expect(server.callsOf(subscribePush).map(({ body }) => body)).toEqual([{ endpoint: ENDPOINT, keys: KEYS, renews: true }]);
    list([HERE]);
    await renewPush();
    expect(server.callsOf(subscribePush)).toHaveLength(1);
    list([]);
    server.on(subscribePush, refusal('not_found'));
    await renewPush();
    await renewPush();
    expect(server.callsOf(subscribePush)).toHaveLength(2);
  });

  it('stay off where the browser blocks them, or the server refuses', async () => {
    fakeBrowser('denied');
    renderForTest(<PushPart />);
    const user = userEvent.setup();
    await user.click(await toggle());
    expect(await screen.findByRole('alert')).toHaveTextContent('Your browser blocks notifications.');
    fakeBrowser('granted');
    server.on(subscribePush, refusal('conflict', { detail: '10 browsers get notices, the most. Turn one off first.' }));
    await user.click(await toggle());
    await waitFor(() => expect(screen.getByRole('alert')).toHaveTextContent('10 browsers get notices'));
    expect(await toggle()).not.toBeChecked();
  });

  it('are not offered where the browser has none', () => {
    renderForTest(<PushPart />);
    expect(screen.getByText('This browser can’t show notifications at this address.')).toBeVisible();
  });
});
