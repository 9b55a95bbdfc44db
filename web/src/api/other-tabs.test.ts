import { QueryClient } from '@tanstack/react-query';
import { expect, it, vi } from 'vitest';
import { MARIA } from './fake-records.ts';
import { CHANNEL, followOtherTabs, tellOtherTabs } from './other-tabs.ts';
import { startSession } from './session.ts';

it('reads anew what the person changes in another tab, tells other tabs of its own changes, and does not hear itself', async () => {
  startSession({ access_token: 'token-1', user_info: MARIA });
  const queries = new QueryClient();
  const read = vi.spyOn(queries, 'invalidateQueries');
  const stop = followOtherTabs(queries);
  const other = new BroadcastChannel(CHANNEL);
  const heard = vi.fn();
  other.onmessage = ({ data }) => heard(data);

  tellOtherTabs();
  await vi.waitFor(() => expect(heard).toHaveBeenCalledExactlyOnceWith(MARIA.id));
  expect(read).not.toHaveBeenCalled();
  other.postMessage('somebody else');
  other.postMessage(MARIA.id);
  await vi.waitFor(() => expect(read).toHaveBeenCalledOnce());
  stop();
  other.close();
});
