import { IconFiles } from '@tabler/icons-react';
import { useQuery } from '@tanstack/react-query';
import { scansQuery } from '#api/scans.ts';
import { Listed } from '#ui/listed.tsx';
import { useMinute } from '#ui/moment.tsx';
import { RefreshedCard } from '#ui/refreshed-card.tsx';
import { ScanRow } from '#ui/scan-row.tsx';
import { EmptyState } from '#ui/states.tsx';

export function ScanHistory() {
  const { data: scans, error, refetch } = useQuery(scansQuery);
  const now = useMinute();
  return (
    <RefreshedCard title="Scan history" onRefresh={refetch}>
      {(refresh) => (
        <Listed
          what="the scan history"
          rows={scans}
          error={error}
          onRetry={refresh}
          empty={
            <EmptyState
              icon={<IconFiles size={28} stroke={1.7} />}
              title="No scans yet"
              sentence="Drop a file above, and what was found in it stands here."
            />
          }
        >
          {(rows) => (
            <ul>
              {rows.map((scan) => (
                <ScanRow key={scan.id} scan={scan} now={now} detailed to={`/antivirus?scan=${scan.id}`} />
              ))}
            </ul>
          )}
        </Listed>
      )}
    </RefreshedCard>
  );
}
