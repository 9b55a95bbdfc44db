import { renewPush } from '#features/account/push.queries.ts';

/** Makes the application installable: names its manifest, and starts the service worker. Browsers without one do without. */
export function makeInstallable(): void {
  if (document.querySelector('link[rel="manifest"]') === null)
    document.head.append(Object.assign(document.createElement('link'), { rel: 'manifest', href: '/manifest.webmanifest' }));
  // Refused over plain HTTP from another machine.
  navigator.serviceWorker
    ?.register('/service-worker.js')
    .then(renewPush)
    .catch(() => undefined);
}
