import { listConversations } from '@palisade/contract/desk-list';
import type { Conversation } from '@palisade/contract/desk-record';
import type { QueryClient } from '@tanstack/react-query';
import { callPage, type Page } from '#api/call.ts';
import { deskCountsQuery } from './desk-counts.ts';

/** Number of conversations on a technician's home. The desk shows all of them. */
const SHOWN = 5;

/** Reads the waiting conversations, and the counts of the desk with the first of them. */
export async function readWaiting(queries: QueryClient, signal: AbortSignal): Promise<Page<Conversation[]>> {
  const [waiting] = await Promise.all([
    callPage(listConversations, { signal, query: { view: 'waiting', sort: 'urgent', limit: SHOWN } }),
    queries.ensureQueryData(deskCountsQuery).catch(() => undefined),
  ]);
  return waiting;
}
