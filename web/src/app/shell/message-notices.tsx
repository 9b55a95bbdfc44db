import { useEffect } from 'react';
import { useMessageNotices } from '#ui/use-message-notices.ts';

/** Behind everything that a screen loads first. ms. */
const INSTALLABLE_AFTER_MS = 4_000;

/** On every screen. */
export function MessageNotices() {
  useMessageNotices();
  useEffect(() => {
    const timer = setTimeout(() => {
      import('./installable.ts').then(
        ({ makeInstallable }) => makeInstallable(),
        () => undefined,
      );
    }, INSTALLABLE_AFTER_MS);
    return () => clearTimeout(timer);
  }, []);
  return null;
}
