import { renewPush } from '#features/account/push.queries.ts';

/** Makes the application installable: adds the manifest and registers the service worker, if the browser has one. */
export function makeInstallable(): void {
  if (document.querySelector('link[rel="manifest"]') === null)
    document.head.append(Object.assign(document.createElement('link'), { rel: 'manifest', href: '/manifest.webmanifest' }));
  // Registration fails over plain HTTP from another computer.
  navigator.serviceWorker
    ?.register('/service-worker.js')
    .then(renewPush)
    .catch(() => undefined);
}
