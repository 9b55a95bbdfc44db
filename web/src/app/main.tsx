import '#api/zod-without-eval.ts';
import './styles.ts';
import { StrictMode, startTransition } from 'react';
import { createRoot } from 'react-dom/client';
import { isAtStart } from '#api/early.ts';
import { currentSession } from '#api/session.ts';
import { beginStart } from '#api/start.ts';
import { App, isAskPage, loadSignedIn } from './app.tsx';
import { Providers } from './providers.tsx';

function isPseudoKept(): boolean {
  try {
    return localStorage.getItem('palisade.pseudo') !== null;
  } catch {
    return false;
  }
}

/** Waits for the files of a signed-in person and of the first screen, so that it follows the placeholder of index.html without a second placeholder. */
async function fetchFirst(): Promise<void> {
  if (!currentSession() || isAskPage()) return;
  if (isAtStart()) beginStart();
  // The lazy part shows its own message if a file fails to load.
  await loadSignedIn().catch(() => {});
}

// A switch for developers; its file is loaded only when the switch is on.
if (/[?&]pseudo=/u.test(window.location.search) || isPseudoKept())
  void import('./pseudo-locale.ts').then(({ followSwitch }) => followSwitch());

/** The element in index.html. The first files may run before the page is parsed up to it. */
async function findContainer(): Promise<HTMLElement> {
  const find = () => document.getElementById('root');
  if (!find()) await new Promise((resolve) => document.addEventListener('DOMContentLoaded', resolve, { once: true }));
  const container = find();
  if (!container) throw new Error('index.html has no #root');
  return container;
}

async function open(): Promise<void> {
  await fetchFirst();
  const root = createRoot(await findContainer());
  // A transition renders in slices, so the page stays responsive. As one task, the first render blocks a phone for half a second.
  startTransition(() =>
    root.render(
      <StrictMode>
        <Providers>
          <App />
        </Providers>
      </StrictMode>,
    ),
  );
}

void open();
