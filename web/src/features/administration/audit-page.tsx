import {
  AUDIT_GROUPS,
  AUDIT_KINDS,
  type AuditEntry,
  type AuditGroup,
  type AuditKind,
  auditGroupOf,
  checkAudit,
  listAudit,
} from '@palisade/contract/audit';
import { dayAfter, startOfDate } from '@palisade/contract/day';
import { formatNumber, plural } from '@palisade/contract/intl';
import { shownEmail } from '@palisade/contract/shown-email';
import { IconAlertTriangle, IconFileSearch, IconShieldCheck } from '@tabler/icons-react';
import { infiniteQueryOptions, queryOptions, useInfiniteQuery, useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { useSearchParams } from 'react-router';
import { call, sentenceOf } from '#api/call.ts';
import { KIND_LABELS } from '#domain/activity/activity-words.ts';
import { IconTile } from '#ui/badge.tsx';
import { Button } from '#ui/button.tsx';
import { Card } from '#ui/card.tsx';
import { DaysFilter } from '#ui/days-filter.tsx';
import { Grid, Stack } from '#ui/layout.tsx';
import { ListCard } from '#ui/list-card.tsx';
import { ChoiceFilter, ListFilters, SearchFilter, useSearched } from '#ui/list-filters.tsx';
import { dayOf, Moment, useMinute } from '#ui/moment.tsx';
import { Page } from '#ui/page.tsx';
import { ZONE } from '#ui/place.ts';
import { Sentence } from '#ui/sentence.tsx';
import { ShowMore } from '#ui/show-more.tsx';
import { EmptyState, ErrorNotice, NothingMatches } from '#ui/states.tsx';
import { AUDIT_ICONS } from './audit-icons.ts';
import { auditSentence } from './audit-words.ts';
import { AUDIT_KEY } from './users.queries.ts';
import './administration.css';

const ROWS_AT_ONCE = 50;

const PROOF_SENTENCE = 'Save the checkpoint elsewhere to verify the log later.';

/** Filter of the log, from the address. */
interface Wanted {
  person: string;
  /** A kind, or a group with the prefix `GROUP_MARK`. */
  what: What | undefined;
  /** Days in this browser's time zone; empty for no limit. */
  from: string;
  to: string;
}

const GROUP_MARK = 'all-';
type What = AuditKind | `${typeof GROUP_MARK}${AuditGroup}`;

const GROUP_LABELS: Record<AuditGroup, string> = {
  sign_in: 'Sign-ins',
  account: 'Accounts',
  plans: 'Plans',
  alerts: 'Alerts',
  files: 'Files',
  devices: 'Devices',
  remote: 'Remote support',
  support: 'Support',
  installation: 'Installation',
};

/** For each group, a choice of all its entries, followed by its kinds. */
const CHOICES = AUDIT_GROUPS.map((group) => {
  const kinds = AUDIT_KINDS.filter((kind) => auditGroupOf(kind) === group);
  const all = [`${GROUP_MARK}${group}`, `All: ${GROUP_LABELS[group]}`] as const;
  return [GROUP_LABELS[group], [all, ...kinds.map((kind) => [kind, KIND_LABELS[kind]] as const)]] as const;
});
const WHATS: readonly What[] = CHOICES.flatMap(([, options]) => options.map(([what]) => what));

function queryOf({ person, what, from, to }: Wanted) {
  const group = AUDIT_GROUPS.find((one) => what === `${GROUP_MARK}${one}`);
  const kind = AUDIT_KINDS.find((one) => what === one);
  const start = (day: string) => new Date(startOfDate(ZONE.name, day)).toISOString();
  return {
    person,
    ...(kind && { kind }),
    ...(group && { group }),
    ...(from !== '' && { from: start(from) }),
    ...(to !== '' && { to: start(dayAfter(to, 1)) }),
  };
}

const auditQuery = (wanted: Wanted) =>
  infiniteQueryOptions({
    queryKey: [...AUDIT_KEY, 'entries', wanted],
    queryFn: ({ pageParam, signal }) =>
      call(listAudit, {
        query: { limit: ROWS_AT_ONCE, ...queryOf(wanted), ...(pageParam > 0 && { cursor: pageParam }) },
        signal,
      }),
    initialPageParam: 0,
    getNextPageParam: (rows) => (rows.length < ROWS_AT_ONCE ? undefined : rows.at(-1)?.seq),
    placeholderData: (before) => before,
  });

const chainQuery = queryOptions({ queryKey: [...AUDIT_KEY, 'chain'], queryFn: ({ signal }) => call(checkAudit, { signal }) });

export function AuditPage() {
  return (
    <Page title="Audit log" sentence="See who did what, and when. Changed or removed entries show here.">
      <Stack gap="4">
        <Chain />
        <Entries />
      </Stack>
    </Page>
  );
}

function describeProof({ entries, checked_from }: { entries: number; checked_from: number }): string {
  if (entries === 0) return 'Entries appear when people sign in or change something. Each is then verified here.';
  const first = 'Nothing was changed, taken out or cut off.';
  if (checked_from <= 1) return `${first} ${PROOF_SENTENCE}`;
  return `${first} Entries before ${formatNumber(checked_from)} were not checked. They expired, or their key was replaced. ${PROOF_SENTENCE}`;
}

function describeVerified({ entries, checked_from }: { entries: number; checked_from: number }): string {
  const count = entries - checked_from + 1;
  if (count < 1) return 'There’s nothing to verify yet.';
  return plural(count, { one: '1 entry verified', other: `${formatNumber(count)} entries verified` });
}

/** A sentence about the entries before the first fault. */
function describeUnchanged(count: number): string {
  return plural(count, {
    one: 'The 1 entry before it is unchanged. Compare with a backup, and find out who could write to the database.',
    other: `The ${formatNumber(count)} entries before it are unchanged. Compare with a backup, and find out who could write to the database.`,
  });
}

/** Result of the integrity check of the log. */
function Chain() {
  const { data: chain, error, isFetching, refetch } = useQuery(chainQuery);
  const Icon = chain?.fault ? IconAlertTriangle : IconShieldCheck;
  const again = (
    <Button variant="quiet" size="s" loading={isFetching} onClick={() => void refetch()}>
      Check again
    </Button>
  );
  return (
    <Card title="Has the log been changed?" action={again}>
      {error && <ErrorNotice title="The log could not be checked" sentence={sentenceOf(error)} onRetry={() => void refetch()} />}
      {!chain && !error && <Checking />}
      {chain && (
        <Grid columns="lead" gap="3" align="start" className={chain.fault === null ? 'accent' : 'red'} role="status">
          <Icon size={24} stroke={1.7} aria-hidden="true" />
          <Stack gap="1">
            <p className="ink bold">
              {chain.fault === null
                ? describeVerified(chain)
                : `Something is wrong with entry ${chain.fault.seq}. ${chain.fault.reason}`}
            </p>
            <p className="sub">
              {chain.fault === null ? describeProof(chain) : describeUnchanged(chain.entries - chain.checked_from + 1)}
            </p>
            {chain.fault === null && (
              <details className="small muted">
                <summary>Show the checkpoint</summary>
                <code className="surface-sunken mono small pad-s ink block break">{chain.head}</code>
              </details>
            )}
          </Stack>
        </Grid>
      )}
    </Card>
  );
}

/** Has the layout of the result, so that the entries below do not move when it arrives. */
function Checking() {
  return (
    <Grid columns="lead" gap="3" align="start" className="audit-chain__checking accent">
      <IconShieldCheck size={24} stroke={1.7} aria-hidden="true" />
      <Stack gap="1">
        <p className="ink bold">Checking every entry…</p>
        <p className="sub" aria-hidden="true">
          Nothing was changed, taken out or cut off. {PROOF_SENTENCE}
        </p>
        <p className="small" aria-hidden="true">
          Show the checkpoint
        </p>
      </Stack>
    </Grid>
  );
}

/** A valid day in the address; otherwise empty. */
function dayIn(address: URLSearchParams, name: string): string {
  const day = address.get(name) ?? '';
  return /^\d{4}-\d{2}-\d{2}$/u.test(day) && !Number.isNaN(Date.parse(day)) ? day : '';
}

function Entries() {
  const [address, setAddress] = useSearchParams();
  const [words, setWords] = useState(address.get('person') ?? '');
  const person = useSearched(words);
  const what = WHATS.find((known) => known === address.get('kind'));
  const [from, to] = [dayIn(address, 'from'), dayIn(address, 'to')];
  const query = auditQuery({ person, what, from, to });
  const { data, isPlaceholderData, error, refetch, fetchNextPage, hasNextPage, isFetchingNextPage } = useInfiniteQuery(query);
  const now = useMinute();
  const isFiltered = [person, what ?? '', from, to].some((part) => part !== '');

  function show(next: { person?: string; kind?: string; from?: string; to?: string }) {
    if (next.person !== undefined) setWords(next.person);
    const wanted = { person: words, kind: what ?? '', from, to, ...next };
    setAddress(
      Object.entries(wanted).filter(([, value]) => value !== ''),
      { replace: true },
    );
  }

  const list = {
    rows: data?.pages.flat(),
    isOutdated: isPlaceholderData,
    error,
    refetch,
    more: hasNextPage && <ShowMore loading={isFetchingNextPage} onMore={fetchNextPage} />,
  };
  return (
    <ListCard
      title="Entries"
      of="the audit log"
      list={list}
      filters={
        <ListFilters>
          <SearchFilter
            label="Person"
            placeholder="Email, username, or ID"
            value={words}
            onChange={(typed) => show({ person: typed })}
          />
          <div className="list-filters__choices">
            <ChoiceFilter
              label="What"
              none="Everything"
              groups={CHOICES}
              value={what}
              onChoose={(chosen) => show({ kind: chosen ?? '' })}
            />
            <DaysFilter days={{ from, to }} none="Any time" time_zone={ZONE.name} onChange={show} />
          </div>
        </ListFilters>
      }
      empty={
        isFiltered ? (
          <NothingMatches
            title="Nothing matches"
            sentence="No entry fits this person, kind, and time. Try fewer filters."
            all="Show everything"
            onAll={() => show({ person: '', kind: '', from: '', to: '' })}
          />
        ) : (
          <EmptyState
            icon={IconFileSearch}
            title="No entries yet"
            sentence="Sign-ins and changes by people and the server appear here."
          />
        )
      }
    >
      {(rows) => (
        <Stack as="ol" lines aria-label="Entries">
          {groupEqual(rows).map((entries) => (
            <EntryRow key={entries[0].seq} entries={entries} now={now} />
          ))}
        </Stack>
      )}
    </ListCard>
  );
}

type Entries = [AuditEntry, ...AuditEntry[]];

const actOf = (entry: AuditEntry) => JSON.stringify([dayOf(entry.at), { ...entry, seq: 0, at: '', hash: '' }]);

/** Groups consecutive entries of one day that differ only in their time. */
function groupEqual(rows: readonly AuditEntry[]): Entries[] {
  const groups: Entries[] = [];
  for (const entry of rows) {
    const group = groups.at(-1);
    if (group && actOf(group[0]) === actOf(entry)) group.push(entry);
    else groups.push([entry]);
  }
  return groups;
}

function EntryRow({ entries, now }: { entries: Entries; now: number }) {
  const [{ kind, at, subject, subject_id, actor, actor_id, address, client }] = entries;
  const { text, fact } = auditSentence(entries[0]);
  const who = actor_id === null ? 'The server' : <Person person={actor} id={actor_id} />;
  const times = plural(entries.length, { one: '', other: `${formatNumber(entries.length)} times` });
  return (
    <Grid as="li" columns="both" phone="under" gap="3" rowGap="0" align="center" className="pad-row base">
      <IconTile tone="plain" icon={AUDIT_ICONS[kind]} />
      <Stack as="span" className="shrink break">
        <span className="medium">
          <Sentence
            text={text}
            parts={{
              who,
              whom: <Person person={subject} id={subject_id} />,
              fact: <bdi>{fact}</bdi>,
            }}
          />
        </span>
        <details className="num small muted">
          <summary>{[times, client, address].filter(Boolean).join(' · ') || 'Details'}</summary>
          {entries.map((entry) => (
            <p key={entry.seq}>
              <Sentence
                text="{time}, checkpoint {checkpoint}"
                parts={{
                  time: <Moment iso={entry.at} now={now} />,
                  checkpoint: <code className="tiny">{`${entry.seq}:${entry.hash}`}</code>,
                }}
              />
            </p>
          ))}
        </details>
      </Stack>
      <span className="num faint small nowrap">
        <Moment iso={at} now={now} />
      </span>
    </Grid>
  );
}

function Person({ person, id }: { person: AuditEntry['subject']; id: string }) {
  if (person) return <bdi>{shownEmail(person.email)}</bdi>;
  return <Sentence text="deleted account {id}" parts={{ id: <code>{id}</code> }} />;
}
