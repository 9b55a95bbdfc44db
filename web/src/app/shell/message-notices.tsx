import { useMessageNotices } from '#ui/use-message-notices.ts';

/** On every screen. */
export function MessageNotices() {
  useMessageNotices();
  return null;
}
