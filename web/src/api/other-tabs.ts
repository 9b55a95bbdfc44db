import type { QueryClient } from '@tanstack/react-query';
import { currentSession } from './session.ts';

export const CHANNEL = 'palisade.changed';

let channel: BroadcastChannel | undefined;

/** Tells the other tabs of this browser that the signed-in person has changed something here. */
export function tellOtherTabs(): void {
  channel?.postMessage(currentSession()?.user_info.id);
}

/** Has everything that the screens have read follow what the person changes in other tabs, until the answered function is called. */
export function followOtherTabs(queries: QueryClient): () => void {
  channel ??= new BroadcastChannel(CHANNEL);
  const open = channel;
  const listen = ({ data }: MessageEvent<unknown>) => {
    if (data === currentSession()?.user_info.id) void queries.invalidateQueries();
  };
  open.addEventListener('message', listen);
  return () => open.removeEventListener('message', listen);
}
