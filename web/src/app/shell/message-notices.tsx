import { useEffect } from 'react';
import { useMessageNotices } from '#ui/use-message-notices.ts';

/** Delay after the resources of the first screen, in ms. */
const INSTALLABLE_AFTER_MS = 4_000;

/** Mounted on every screen: announces messages, and makes the application installable. */
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
