import { type Scan, type ScanStatus, type ScanTotals, scanStatusSchema } from '@palisade/contract/antivirus';
import { formatNumber, plural } from '@palisade/contract/intl';
import { threatWords } from '@palisade/contract/threat-words';
import { IconFiles } from '@tabler/icons-react';
import { keepPreviousData, useInfiniteQuery, useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { useSearchParams } from 'react-router';
import { InfectionAnswer } from '#domain/scan/infection-answer.tsx';
import { ScanRow } from '#domain/scan/scan-row.tsx';
import { EVERY_SCAN, type ScanChoice, scansQuery, scanTotalsQuery } from '#domain/scan/scans.ts';
import { Button } from '#ui/button.tsx';
import { Drawing } from '#ui/drawing.tsx';
import { ChoiceFilter, ListFilters, SearchFilter, StateFilter, useSearched } from '#ui/list-filters.tsx';
import { Listed } from '#ui/listed.tsx';
import { useMinute } from '#ui/moment.tsx';
import { RefreshedCard } from '#ui/refreshed-card.tsx';
import { ShowMore } from '#ui/show-more.tsx';
import { EmptyState, NothingMatches } from '#ui/states.tsx';
import { RESULTS_ID } from './upload-panel.tsx';
import { byUrgency } from './upload-summary.ts';
import './scan-history.css';

const STATES: readonly { value: ScanStatus | undefined; label: string }[] = [
  { value: undefined, label: 'All' },
  { value: 'infected', label: 'Infected' },
  { value: 'pending', label: 'Pending' },
  { value: 'clean', label: 'Clean' },
];

const SORTS = [
  ['oldest', 'Oldest first'],
  ['name', 'By name'],
  ['largest', 'Largest first'],
] as const satisfies readonly (readonly [ScanChoice['sort'], string])[];

function totalOf(totals: ScanTotals, status: ScanStatus | undefined): number {
  return status === undefined ? totals.clean + totals.infected + totals.pending : totals[status];
}

/** Number of clean rows among the files scanned just now before "show more"; infected and pending files are always shown. */
const FRESH_SHOWN = 8;
const NO_SCANS: readonly Scan[] = [];

interface ScanGroups {
  fresh: Scan[];
  earlier: Scan[];
}

/**
 * Splits the history into the files that this page has just scanned, most urgent first, and all others. Deleted records are in neither group.
 * `next` is undefined if `rows` is the complete history.
 */
function groupsOf(rows: readonly Scan[], scanned: readonly Scan[], next: string | undefined): ScanGroups {
  const known = new Map(rows.map((row) => [row.id, row]));
  const last = rows.at(-1)?.id ?? '';
  const fresh = scanned.flatMap((scan) => known.get(scan.id) ?? (next !== undefined && scan.id < last ? [scan] : []));
  const ids = new Set(fresh.map(({ id }) => id));
  return { fresh: fresh.toSorted(byUrgency), earlier: rows.filter(({ id }) => !ids.has(id)) };
}

/** `justScanned`: scans of the files that were uploaded on this page. */
export function ScanHistory({ justScanned = NO_SCANS }: { justScanned?: readonly Scan[] }) {
  const [place, setPlace] = useSearchParams();
  const [others, setOthers] = useState(EVERY_SCAN);
  const chosen = { ...others, status: scanStatusSchema.safeParse(place.get('status')).data };
  function setChosen({ status, ...choice }: ScanChoice) {
    setOthers({ ...choice, status: undefined });
    if (status !== chosen.status) setPlace(status === undefined ? {} : { status }, { replace: true, preventScrollReset: true });
  }
  const search = useSearched(chosen.search);
  const choice = { ...chosen, search };
  const { data, isPlaceholderData, error, refetch, fetchNextPage, hasNextPage, isFetchingNextPage } = useInfiniteQuery({
    ...scansQuery(choice),
    placeholderData: keepPreviousData,
  });
  const { data: totals, refetch: recount } = useQuery({ ...scanTotalsQuery(search), placeholderData: keepPreviousData });
  const now = useMinute();
  const scans = data?.pages.flatMap(({ rows }) => rows);
  const isNarrowed = choice.status !== undefined || search !== '';
  const isWhole = !isNarrowed && chosen.sort === EVERY_SCAN.sort;
  const groups = scans && isWhole && justScanned.length > 1 ? groupsOf(scans, justScanned, data?.pages.at(-1)?.next) : undefined;
  const read = groups ? groups.fresh.length + groups.earlier.length : (scans?.length ?? 0);
  const left = totals && scans ? Math.max(0, totalOf(totals, choice.status) - read) : 0;
  return (
    <RefreshedCard title="Scan history" onRefresh={() => Promise.all([refetch(), recount()])}>
      {(refresh) => (
        <>
          {(isNarrowed || chosen.search !== '' || (scans && scans.length > 0)) && (
            <ListFilters>
              <StateFilter
                label="Which scans"
                value={chosen.status}
                options={STATES.map((state) => ({ ...state, count: totals && totalOf(totals, state.value) }))}
                onChoose={(status) => setChosen({ ...chosen, status })}
              />
              <SearchFilter
                label="Search the scan history"
                placeholder="File or threat"
                value={chosen.search}
                onChange={(search) => setChosen({ ...chosen, search })}
              />
              <div className="list-filters__choices">
                <ChoiceFilter
                  label="Order"
                  none="Newest first"
                  value={SORTS.find(([sort]) => sort === chosen.sort)?.[0]}
                  options={SORTS}
                  onChoose={(sort) => setChosen({ ...chosen, sort: sort ?? EVERY_SCAN.sort })}
                />
              </div>
            </ListFilters>
          )}
          <Listed
            of="the scan history"
            list={{ rows: scans, isOutdated: isPlaceholderData, error, refetch: refresh }}
            empty={isNarrowed ? <NothingFound onAll={() => setChosen(EVERY_SCAN)} /> : <NoScans />}
          >
            {(rows) =>
              groups && groups.fresh.length > 0 ? (
                <Groups groups={groups} now={now} />
              ) : (
                <ScanList label="Scans" scans={rows} now={now} status={choice.status} isOutdated={isPlaceholderData} />
              )
            }
          </Listed>
          {hasNextPage && !isPlaceholderData && <ShowMore left={left} loading={isFetchingNextPage} onMore={fetchNextPage} />}
        </>
      )}
    </RefreshedCard>
  );
}

interface ScanListProps {
  label: string;
  scans: readonly Scan[];
  now: number;
  /** The current filter, which the links of rows preserve. */
  status?: ScanStatus | undefined;
  isOutdated?: boolean;
}

function ScanList({ label, scans, now, status, isOutdated = false }: ScanListProps) {
  const kept = status === undefined ? '' : `status=${status}&`;
  return (
    <ul aria-label={label} aria-busy={isOutdated}>
      {scans.map((scan) => (
        <ScanRow
          key={scan.id}
          scan={scan}
          now={now}
          detailed
          to={`/antivirus?${kept}scan=${scan.id}`}
          wordsOf={threatWords}
          Answer={InfectionAnswer}
        />
      ))}
    </ul>
  );
}

function Groups({ groups: { fresh, earlier }, now }: { groups: ScanGroups; now: number }) {
  const [isWhole, setIsWhole] = useState(false);
  const urgent = fresh.filter(({ scan_status }) => scan_status !== 'clean').length;
  const shown = isWhole ? fresh.length : Math.max(FRESH_SHOWN, urgent);
  const left = fresh.length - shown;
  return (
    <>
      <h3 id={RESULTS_ID} className="scan-group muted small bold">
        Just scanned
      </h3>
      <ScanList label="Just scanned" scans={fresh.slice(0, shown)} now={now} />
      {left > 0 && (
        <div className="scan-group__more">
          <Button variant="text" size="s" onClick={() => setIsWhole(true)}>
            {plural(left, { one: 'Show 1 more clean file', other: `Show ${formatNumber(left)} more clean files` })}
          </Button>
        </div>
      )}
      {earlier.length > 0 && (
        <>
          <h3 className="scan-group muted small bold">Earlier</h3>
          <ScanList label="Earlier" scans={earlier} now={now} />
        </>
      )}
    </>
  );
}

function NoScans() {
  return (
    <EmptyState
      icon={IconFiles}
      drawing={<Drawing of="sheets" />}
      title="No scans yet"
      sentence="Your results appear here. Choose files above to start."
    />
  );
}

function NothingFound({ onAll }: { onAll: () => void }) {
  return <NothingMatches title="No matching scans" sentence="Try another search or filter." all="Show all scans" onAll={onAll} />;
}
