import { readPush, subscribePush, unsubscribePush } from '@palisade/contract/push';
import { queryOptions } from '@tanstack/react-query';
import { call } from '#api/call.ts';
import { useChange } from '#api/change.ts';

const PUSH_KEY = ['push'];

/** Whether this browser can get notices while the application is closed. */
export function canPush(): boolean {
  return 'serviceWorker' in navigator && 'PushManager' in window && 'Notification' in window;
}

async function subscriptionOf(): Promise<PushSubscription | null> {
  const worker = await navigator.serviceWorker.getRegistration();
  return (await worker?.pushManager.getSubscription()) ?? null;
}

/** Whether this browser gets notices. */
export const pushQuery = queryOptions({
  queryKey: PUSH_KEY,
  queryFn: async () => (await subscriptionOf()) !== null && Notification.permission === 'granted',
  enabled: () => canPush(),
  staleTime: 0,
});

/** The browser does not let this page show notices. */
export class NotAllowed extends Error {}

async function turnOn(): Promise<void> {
  if ((await Notification.requestPermission()) !== 'granted') throw new NotAllowed();
  const { public_key } = await call(readPush);
  await navigator.serviceWorker.register('/service-worker.js');
  const worker = await navigator.serviceWorker.ready;
  // A browser keeps one subscription, and one for another key of the server gets nothing.
  await (await worker.pushManager.getSubscription())?.unsubscribe();
  const made = await worker.pushManager.subscribe({ userVisibleOnly: true, applicationServerKey: public_key });
  const { endpoint = '', keys = {} } = made.toJSON();
  try {
    await call(subscribePush, { body: { endpoint, keys: { p256dh: keys['p256dh'] ?? '', auth: keys['auth'] ?? '' } } });
  } catch (error) {
    await made.unsubscribe();
    throw error;
  }
}

async function turnOff(): Promise<void> {
  const subscription = await subscriptionOf();
  if (subscription === null) return;
  await call(unsubscribePush, { body: { endpoint: subscription.endpoint } });
  await subscription.unsubscribe();
}

/** Turns notices to this browser on or off. */
export function useSetPush() {
  return useChange({ mutationFn: (isOn: boolean) => (isOn ? turnOn() : turnOff()), renews: [PUSH_KEY] });
}
