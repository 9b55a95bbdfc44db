import { useEffect } from 'react';

/** Marks messages as read up to `seen_seq`, the newest one in view, as soon as the page is visible. */
export function useMarkSeen(unread: number, seen_seq: number | undefined, mark: (seq: number) => void): void {
  useEffect(() => {
    if (unread === 0 || seen_seq === undefined) return undefined;
    const markIfSeen = () => {
      if (document.visibilityState === 'visible') mark(seen_seq);
    };
    markIfSeen();
    document.addEventListener('visibilitychange', markIfSeen);
    return () => document.removeEventListener('visibilitychange', markIfSeen);
  }, [unread, seen_seq, mark]);
}
