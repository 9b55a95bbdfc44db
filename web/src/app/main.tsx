import '#api/zod-without-eval.ts';
import './styles.ts';
import { currentUser } from '@palisade/contract/auth';
import type { readDashboard } from '@palisade/contract/dashboard';
import { readConfig } from '@palisade/contract/platform';
import { StrictMode, startTransition } from 'react';
import { createRoot } from 'react-dom/client';
import { askEarly } from '#api/early.ts';
import { currentSession } from '#api/session.ts';
import { beginStart, isAtStart } from '#api/start.ts';
import { App, isAskPage, loadSignedIn } from './app.tsx';
import { Providers } from './providers.tsx';

function isPseudoKept(): boolean {
  try {
    return localStorage.getItem('palisade.pseudo') !== null;
  } catch {
    return false;
  }
}

const STATUS: typeof readDashboard.path = '/dashboard/status';

/** Fetches the files of a signed-in person before the first render, so that their screen follows the placeholder of index.html without a second placeholder. */
async function fetchFirst(): Promise<void> {
  const session = currentSession();
  if (!session || isAskPage()) return;
  if (isAtStart()) beginStart();
  askEarly(session, [readConfig.path, isAtStart() ? STATUS : currentUser.path]);
  // The lazy part shows its own message if a file fails to load.
  await loadSignedIn().catch(() => {});
}

// A switch for developers; its file is loaded only when the switch is on.
if (/[?&]pseudo=/u.test(window.location.search) || isPseudoKept())
  void import('./pseudo-locale.ts').then(({ followSwitch }) => followSwitch());

const container = document.getElementById('root');
if (!container) throw new Error('index.html has no #root');
const root = createRoot(container);
// A transition renders in slices, so the page stays responsive. As one task, the first render blocks a phone for half a second.
void fetchFirst().then(() =>
  startTransition(() =>
    root.render(
      <StrictMode>
        <Providers>
          <App />
        </Providers>
      </StrictMode>,
    ),
  ),
);
