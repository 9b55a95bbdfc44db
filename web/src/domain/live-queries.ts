import { currentUser } from '@palisade/contract/auth';
import type { InstallationTopic, Topic } from '@palisade/contract/endpoint';
import type { QueryClient } from '@tanstack/react-query';
import { call } from '#api/call.ts';
import { refreshConfig } from '#api/config.ts';
import { onBeginning, onEvent, onGap } from '#api/events.ts';
import { refreshUser } from '#api/session.ts';
import { shownIn } from '#api/shown-in.ts';
import { chatStateQuery, messagesQuery, takeMessage, takePresence, takeRead } from './conversation/chat.ts';
import { dashboardQuery } from './dashboard/dashboard.ts';
import { overviewQuery } from './overview/overview.ts';
import { mergeScan, removeScan } from './scan/scans.ts';
import { noteRemoteNews } from './session/remote-news.ts';

/** Random delay that spreads the requests of all pages of an installation, in ms. */
const SPREAD = 1_000;

function refetchTopic(queries: QueryClient, topic: Topic | InstallationTopic): void {
  if (topic === 'remote') noteRemoteNews();
  for (const queryKey of shownIn(topic)) void queries.invalidateQueries({ queryKey });
  if (topic === 'provider') setTimeout(() => void refreshConfig(), Math.random() * SPREAD);
  // The top bar shows the name from the session.
  if (topic === 'account') void call(currentUser).then(refreshUser, () => undefined);
}

/** Keeps all cached data up to date with events. Returns a function that stops it. */
export function followEvents(queries: QueryClient): () => void {
  const stops = [
    onEvent('scan_changed', ({ scan }) => {
      mergeScan(queries, scan);
      // The first steps of an administrator include a scan.
      if (queries.getQueryData(overviewQuery.queryKey)?.first_steps.first_scan === false)
        void queries.invalidateQueries({ queryKey: overviewQuery.queryKey });
    }),
    onEvent('scan_removed', ({ scan_id }) => removeScan(queries, scan_id)),
    onEvent('alerts_changed', () => {
      void queries.invalidateQueries({ queryKey: ['anti-hacking'] });
      void queries.invalidateQueries({ queryKey: dashboardQuery.queryKey });
    }),
    onEvent('chat_message', ({ message }) => takeMessage(queries, message)),
    onEvent('chat_read', ({ conversation_id, reader, seq }) => {
      if (queries.getQueryData(chatStateQuery.queryKey)?.conversation_id === conversation_id) takeRead(queries, reader, seq);
    }),
    onEvent('support_here', ({ is_here }) => takePresence(queries, is_here)),
    onEvent('changed', ({ topic }) => refetchTopic(queries, topic)),
    onBeginning(() => {
      for (const { queryKey } of [chatStateQuery, messagesQuery])
        if (queries.getQueryState(queryKey) !== undefined) void queries.invalidateQueries({ queryKey });
    }),
    onGap(() => {
      void queries.invalidateQueries();
      void refreshConfig();
      void call(currentUser).then(refreshUser, () => undefined);
    }),
  ];
  return () => {
    for (const stop of stops) stop();
  };
}
