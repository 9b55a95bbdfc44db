// The service worker of the installed application. It caches only the shell (the page and its hashed files), never an API reply or a person's file; receives what the
// device shares with the application; and shows notifications that the server pushes.
const SHELL = 'palisade-shell-1';
const PAGE = '/';
const SHARE = '/scam-check/shared';
/** Maximum number of shared messages that wait in memory for their page, and their lifetime in ms. */
const SHARED_MAXIMUM = 5;
const SHARED_MS = 120_000;
/** Maximum number of cached hashed files; older ones are removed. */
const FILES_MAXIMUM = 200;

const shared = new Map();

self.addEventListener('install', (event) => {
  // Reloads of the page use the new worker at once.
  self.skipWaiting();
  event.waitUntil(caches.open(SHELL).then((cache) => cache.add(new Request(PAGE, { cache: 'reload' }))));
});

self.addEventListener('activate', (event) => {
  event.waitUntil(
    caches.keys().then((names) => Promise.all(names.filter((name) => name !== SHELL).map((name) => caches.delete(name)))),
  );
});

/** The page from the network; offline, the cached page. */
async function openPage(request) {
  try {
    const answer = await fetch(request);
    const type = answer.headers.get('content-type') ?? '';
    if (answer.ok && type.startsWith('text/html')) {
      const cache = await caches.open(SHELL);
      await cache.put(PAGE, answer.clone());
    }
    return answer;
  } catch (error) {
    const kept = await caches.match(PAGE);
    if (kept === undefined) throw error;
    return kept;
  }
}

/** A hashed file. Its name identifies its content. */
async function openFile(request) {
  const cache = await caches.open(SHELL);
  const kept = await cache.match(request);
  if (kept !== undefined) return kept;
  const answer = await fetch(request);
  if (answer.ok) {
    await cache.put(request, answer.clone());
    const files = (await cache.keys()).filter(({ url }) => new URL(url).pathname !== PAGE);
    await Promise.all(files.slice(0, Math.max(0, files.length - FILES_MAXIMUM)).map((file) => cache.delete(file)));
  }
  return answer;
}

/** Receives what another application shared, and opens the scam check with its id. A page of another site can send the same form, so nothing is submitted. */
async function takeShare(request) {
  const form = await request.formData();
  const words = ['title', 'text', 'url'].map((name) => form.get(name)).filter((one) => typeof one === 'string' && one !== '');
  const files = form.getAll('file').filter((file) => file instanceof File && file.size > 0);
  const id = crypto.randomUUID();
  shared.set(id, { text: words.join('\n'), files });
  for (const old of [...shared.keys()].slice(0, -SHARED_MAXIMUM)) shared.delete(old);
  setTimeout(() => shared.delete(id), SHARED_MS);
  return Response.redirect(`/scam-check?shared=${id}`, 303);
}

self.addEventListener('fetch', (event) => {
  const { request } = event;
  const { origin, pathname } = new URL(request.url);
  if (origin !== self.location.origin) return;
  if (request.method === 'POST' && pathname === SHARE) event.respondWith(takeShare(request));
  else if (request.method === 'GET' && request.mode === 'navigate' && !pathname.startsWith('/api/'))
    event.respondWith(openPage(request));
  else if (request.method === 'GET' && pathname.startsWith('/assets/')) event.respondWith(openFile(request));
});

self.addEventListener('message', (event) => {
  const { kind, id } = event.data ?? {};
  if (kind !== 'take_shared') return;
  event.ports[0]?.postMessage(shared.get(id));
  shared.delete(id);
});

self.addEventListener('push', (event) => {
  let notice = {};
  try {
    notice = event.data?.json() ?? {};
  } catch {
    // Another origin.
  }
  const { title = 'Palisade', body = 'There is news.', path = '/dashboard', tag } = notice;
  event.waitUntil(self.registration.showNotification(title, { body, tag, icon: '/icons/icon-192.png', data: { path } }));
});

self.addEventListener('notificationclick', (event) => {
  event.notification.close();
  const to = new URL(event.notification.data?.path ?? '/dashboard', self.location.origin);
  if (to.origin !== self.location.origin) return;
  event.waitUntil(
    self.clients.matchAll({ type: 'window' }).then((pages) => {
      const open = pages.find(({ url }) => new URL(url).pathname === to.pathname);
      return open === undefined ? self.clients.openWindow(to.href) : open.focus();
    }),
  );
});
