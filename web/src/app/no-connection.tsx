import { readHealth } from '@palisade/contract/platform';
import { IconCloudOff } from '@tabler/icons-react';
import { type ReactNode, useEffect, useState } from 'react';
import { call } from '#api/call.ts';
import { Button } from '#ui/button.tsx';

/** Interval at which the server is checked, in ms. */
const ASKED_AGAIN = 2_000;

/** Error messages of browsers for a module that failed to load: Chromium, Firefox, Safari, and Vite's for a stylesheet. */
const NOT_FETCHED =
  /Failed to fetch dynamically imported module|error loading dynamically imported module|Importing a module script failed|Unable to preload CSS/iu;

export function isNotFetched(error: unknown): boolean {
  return error instanceof Error && NOT_FETCHED.test(error.message);
}

/** True once for each visit of a screen: the page may be older than the files of the server, or its connection just came back. */
function mayLoadAgain(): boolean {
  const state: unknown = window.history.state;
  const noted = typeof state === 'object' && state !== null ? state : {};
  if ('loaded_again' in noted) return false;
  window.history.replaceState({ ...noted, loaded_again: true }, '');
  return true;
}

/**
 * Shown for a screen that failed to load: without a connection it says so and loads the screen when the connection returns.
 * With a connection it loads once more, and then shows `otherwise`.
 */
export function NoConnection({
  otherwise,
  reload = () => window.location.reload(),
}: {
  otherwise: ReactNode;
  reload?: () => void;
}) {
  const [isThere, setIsThere] = useState<boolean>();

  useEffect(() => {
    let isOver = false;
    let wasAway = false;
    async function ask() {
      try {
        await call(readHealth);
      } catch {
        wasAway = true;
        if (!isOver) setIsThere(false);
        return;
      }
      if (isOver) return;
      if (wasAway || mayLoadAgain()) reload();
      else setIsThere(true);
    }
    const again = () => void ask();
    again();
    const timer = setInterval(again, ASKED_AGAIN);
    window.addEventListener('online', again);
    return () => {
      isOver = true;
      clearInterval(timer);
      window.removeEventListener('online', again);
    };
  }, [reload]);

  if (isThere) return otherwise;
  return (
    <section className="error-page" aria-busy={isThere === undefined}>
      {isThere === false && (
        <>
          <IconCloudOff size={32} stroke={1.7} aria-hidden="true" />
          <h1 tabIndex={-1}>No connection</h1>
          <p className="sub">This screen isn’t loaded yet. It opens as soon as we can reach the server.</p>
          <Button onClick={reload}>Try again</Button>
        </>
      )}
    </section>
  );
}
