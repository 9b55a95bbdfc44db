import type { ScanStatus, ScanTotals } from '@palisade/contract/antivirus';
import { IconFiles, IconSearch } from '@tabler/icons-react';
import { keepPreviousData, useInfiniteQuery, useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { ScanRow } from '#domain/scan/scan-row.tsx';
import { EVERY_SCAN, type ScanChoice, scansQuery, scanTotalsQuery } from '#domain/scan/scans.ts';
import { Button } from '#ui/button.tsx';
import { ChoiceFilter, ListFilters, SearchFilter, StateFilter, useSearched } from '#ui/list-filters.tsx';
import { Listed } from '#ui/listed.tsx';
import { useMinute } from '#ui/moment.tsx';
import { RefreshedCard } from '#ui/refreshed-card.tsx';
import { ShowMore } from '#ui/show-more.tsx';
import { EmptyState } from '#ui/states.tsx';

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

export function ScanHistory() {
  const [chosen, setChosen] = useState(EVERY_SCAN);
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
  const left = totals && scans ? Math.max(0, totalOf(totals, choice.status) - scans.length) : 0;
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
            what="the scan history"
            rows={scans}
            isOutdated={isPlaceholderData}
            error={error}
            onRetry={refresh}
            empty={isNarrowed ? <NothingFound onAll={() => setChosen(EVERY_SCAN)} /> : <NoScans />}
          >
            {(rows) => (
              <ul aria-label="Scans" aria-busy={isPlaceholderData}>
                {rows.map((scan) => (
                  <ScanRow key={scan.id} scan={scan} now={now} detailed to={`/antivirus?scan=${scan.id}`} />
                ))}
              </ul>
            )}
          </Listed>
          {hasNextPage && !isPlaceholderData && <ShowMore left={left} loading={isFetchingNextPage} onMore={fetchNextPage} />}
        </>
      )}
    </RefreshedCard>
  );
}

function NoScans() {
  return (
    <EmptyState
      icon={<IconFiles size={28} stroke={1.7} />}
      title="No scans yet"
      sentence="Drop a file above. The answer appears here."
    />
  );
}

function NothingFound({ onAll }: { onAll: () => void }) {
  return (
    <EmptyState
      icon={<IconSearch size={28} stroke={1.7} />}
      title="No scan matches"
      sentence="No file matches this search and this state."
      action={
        <Button variant="quiet" onClick={onAll}>
          Show all scans
        </Button>
      }
    />
  );
}
