import { listScans, scanStatusSchema } from '@palisade/contract/antivirus';
import type { UserInfo } from '@palisade/contract/auth';
import { listConversations } from '@palisade/contract/desk-list';
import { listRules } from '@palisade/contract/firewall';
import { listArticles } from '@palisade/contract/help';
import { may } from '@palisade/contract/may';
import { listUsers } from '@palisade/contract/users';
import { IconBook, IconFile, IconMessage, IconUser, IconWall } from '@tabler/icons-react';
import { keepPreviousData, queryOptions, useQuery } from '@tanstack/react-query';
import { call } from '#api/call.ts';
import { opensDesk } from '#api/policies.ts';
import { useSearched } from '#ui/list-filters.tsx';
import { describeAge } from '#ui/moment.tsx';
import { matching, type PaletteGroup, type PaletteItem } from './palette-items.ts';

/** Number of records of each kind; their own screens show more. */
const SHOWN = 5;
/** Minimum length of a search. */
const SEARCHED_FROM = 2;
/** Number of rules that are searched; only generated rule sets have more. */
const RULES_READ = 500;
const STALE_MS = 30_000;

function recordsQuery<Record>(kind: string, search: string, read: (signal: AbortSignal) => Promise<Record[]>) {
  return queryOptions({
    queryKey: [kind, 'palette', search],
    queryFn: ({ signal }) => read(signal),
    staleTime: STALE_MS,
    placeholderData: keepPreviousData,
  });
}

const peopleQuery = (search: string) =>
  recordsQuery('users', search, (signal) => call(listUsers, { signal, query: { search, limit: SHOWN } }));
const conversationsQuery = (search: string) =>
  recordsQuery('desk', search, (signal) => call(listConversations, { signal, query: { search, limit: SHOWN } }));
/** Scans by name, or by state if the text is a state. */
function scansQuery(search: string) {
  const status = scanStatusSchema.safeParse(search.toLowerCase()).data;
  const query = status === undefined ? { search, limit: SHOWN } : { status, limit: SHOWN };
  return recordsQuery('scans', search, (signal) => call(listScans, { signal, query }));
}
const articlesQuery = (search: string) =>
  recordsQuery('help', search, (signal) => call(listArticles, { signal, query: { search } }));
const rulesQuery = recordsQuery('firewall', '', (signal) => call(listRules, { signal, query: { limit: RULES_READ } }));

/** Records that match the text: help pages, people for administrators, conversations for staff, the person's own scans and rules. */
export function useFoundRecords(user: UserInfo, typed: string): { groups: PaletteGroup[]; isSearching: boolean } {
  const search = useSearched(typed);
  const enabled = search.length >= SEARCHED_FROM;
  const people = useQuery({ ...peopleQuery(search), enabled: enabled && may.administrate(user) });
  const conversations = useQuery({ ...conversationsQuery(search), enabled: enabled && opensDesk(user) });
  const articles = useQuery({ ...articlesQuery(search), enabled });
  const scans = useQuery({ ...scansQuery(search), enabled });
  const rules = useQuery({ ...rulesQuery, enabled });
  const isSearching = [people, conversations, articles, scans, rules].some(({ isFetching }) => isFetching);
  if (!enabled || typed.trim().length < SEARCHED_FROM) return { groups: [], isSearching: false };
  const now = Date.now();
  const ruleItems = (rules.data ?? []).map(
    ({ id, rule_name, enabled: isOn, port }): PaletteItem => ({
      id,
      title: rule_name,
      detail: isOn ? 'on' : 'off',
      words: port,
      icon: IconWall,
      to: `/firewall#rule-${id}`,
    }),
  );
  const groups = [
    {
      title: 'Help pages',
      items: (articles.data ?? []).slice(0, SHOWN).map(({ id, slug, title }) => ({
        ...{ id, title, icon: IconBook },
        to: `/help/${slug}`,
      })),
    },
    {
      title: 'People',
      items: (people.data ?? []).map(({ id, username, email }) => ({
        ...{ id, title: username, detail: email, icon: IconUser },
        to: `/admin/users?search=${encodeURIComponent(email)}`,
      })),
    },
    {
      title: 'Conversations',
      items: (conversations.data ?? []).map(({ id, customer, found, last_message }) => ({
        ...{ id, title: customer, icon: IconMessage },
        detail: found?.text ?? last_message?.text ?? '',
        to: `/support?view=all&conversation=${id}`,
      })),
    },
    {
      title: 'Scans',
      items: (scans.data ?? []).map(({ id, filename, scan_status, scanned_at }) => ({
        ...{ id, title: filename, icon: IconFile },
        detail: `${scan_status}, ${describeAge(scanned_at, now)}`,
        to: `/antivirus?scan=${id}`,
      })),
    },
    { title: 'Firewall rules', items: matching(ruleItems, search).slice(0, SHOWN) },
  ];
  return { groups: groups.filter(({ items }) => items.length > 0), isSearching };
}
