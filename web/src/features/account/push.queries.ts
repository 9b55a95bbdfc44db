import { readPush, removePush, subscribePush } from '@palisade/contract/push';
import { queryOptions } from '@tanstack/react-query';
import { CallError, call } from '#api/call.ts';
import { useChange } from '#api/change.ts';

const PUSH_KEY = ['push'];

/** Whether this browser supports notifications while the application is closed. */
export function canPush(): boolean {
  return 'serviceWorker' in navigator && 'PushManager' in window && 'Notification' in window;
}

async function subscriptionOf(): Promise<PushSubscription | null> {
  if (!canPush()) return null;
  const worker = await navigator.serviceWorker.getRegistration();
  return (await worker?.pushManager.getSubscription()) ?? null;
}

/** Browsers with notifications, from the server. `isOn`: both the server and this browser have a subscription. */
export const pushQuery = queryOptions({
  queryKey: PUSH_KEY,
  queryFn: async ({ signal }) => {
    const { subscriptions } = await call(readPush, { signal });
    const isReady = (await subscriptionOf()) !== null && Notification.permission === 'granted';
    return { browsers: subscriptions, isOn: isReady && subscriptions.some(({ current }) => current) };
  },
  staleTime: 0,
});

function bodyOf(subscription: PushSubscription) {
  const { endpoint = '', keys = {} } = subscription.toJSON();
  return { endpoint, keys: { p256dh: keys['p256dh'] ?? '', auth: keys['auth'] ?? '' } };
}

/** Binds this browser's subscription to this session, if the same person made it. Removes a subscription of another person. */
export async function renewPush(): Promise<void> {
  const subscription = await subscriptionOf();
  if (subscription === null) return;
  const { subscriptions } = await call(readPush);
  if (subscriptions.some(({ current }) => current)) return;
  try {
    await call(subscribePush, { body: { ...bodyOf(subscription), renews: true } });
  } catch (error) {
    if (error instanceof CallError && error.problem?.code === 'not_found') await subscription.unsubscribe();
  }
}

/** The browser forbids notifications of this page. */
export class NotAllowed extends Error {}

async function turnOn(): Promise<void> {
  if ((await Notification.requestPermission()) !== 'granted') throw new NotAllowed();
  const { public_key } = await call(readPush);
  await navigator.serviceWorker.register('/service-worker.js');
  const worker = await navigator.serviceWorker.ready;
  // A service worker has one subscription; one made with another key of the server would receive nothing.
  await (await worker.pushManager.getSubscription())?.unsubscribe();
  const made = await worker.pushManager.subscribe({ userVisibleOnly: true, applicationServerKey: public_key });
  try {
    await call(subscribePush, { body: bodyOf(made) });
  } catch (error) {
    await made.unsubscribe();
    throw error;
  }
}

async function turnOff(): Promise<void> {
  const { subscriptions } = await call(readPush);
  for (const { id, current } of subscriptions) if (current) await call(removePush, { params: { id } });
  await (await subscriptionOf())?.unsubscribe();
}

/** Ends notifications to one of the person's browsers. */
export function useRemovePush() {
  return useChange({ mutationFn: (id: string) => call(removePush, { params: { id } }), renews: [PUSH_KEY] });
}

/** Turns notifications to this browser on or off. */
export function useSetPush() {
  return useChange({ mutationFn: (isOn: boolean) => (isOn ? turnOn() : turnOff()), renews: [PUSH_KEY] });
}
