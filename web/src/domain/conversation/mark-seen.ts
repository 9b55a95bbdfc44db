import { useEffect } from 'react';

/** Marks what is on screen as read, as soon as the page is visible. */
export function useMarkSeen({ unread, last_seq }: { unread: number; last_seq: number }, mark: (seq: number) => void): void {
  useEffect(() => {
    if (unread === 0) return undefined;
    const markIfSeen = () => {
      if (document.visibilityState === 'visible') mark(last_seq);
    };
    markIfSeen();
    document.addEventListener('visibilitychange', markIfSeen);
    return () => document.removeEventListener('visibilitychange', markIfSeen);
  }, [unread, last_seq, mark]);
}
