import { readPush, subscribePush, unsubscribePush } from '@palisade/contract/push';
import { screen, waitFor } from '@testing-library/react';
import userEvent from '@testing-library/user-event';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { FakeServer, refusal } from '#api/fake-server.ts';
import { renderForTest } from '#ui/render-for-test.tsx';
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

let server: FakeServer;

beforeEach(() => {
  server = new FakeServer();
  server.answer(readPush, { public_key: 'server key', subscriptions: 0 });
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
    server.answer(subscribePush, { success: true });
    server.answer(unsubscribePush, { success: true });
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
    expect(bodies()).toHaveLength(2);
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
