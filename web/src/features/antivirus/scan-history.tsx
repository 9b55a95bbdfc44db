import { IconFiles, IconRefresh } from '@tabler/icons-react';
import { useQuery } from '@tanstack/react-query';
import { useTransition } from 'react';
import { sentenceOf } from '#api/call.ts';
import { scansQuery } from '#api/scans.ts';
import { Button } from '#ui/button.tsx';
import { Card } from '#ui/card.tsx';
import { useMinute } from '#ui/moment.tsx';
import { ScanRow } from '#ui/scan-row.tsx';
import { EmptyState, ErrorNotice, LoadingRows } from '#ui/states.tsx';

export function ScanHistory() {
  const { data: scans, error, refetch } = useQuery(scansQuery);
  const [isRefreshing, startRefresh] = useTransition();
  const now = useMinute();
  const refresh = () =>
    startRefresh(async () => {
      await refetch();
    });
  return (
    <Card
      title="Scan history"
      action={
        <Button
          variant="quiet"
          size="s"
          icon={<IconRefresh size={16} stroke={1.7} aria-hidden="true" />}
          loading={isRefreshing}
          onClick={refresh}
        >
          Refresh
        </Button>
      }
    >
      {error && <ErrorNotice title="The scan history could not be read" sentence={sentenceOf(error)} onRetry={refresh} />}
      {!scans && !error && <LoadingRows label="Loading the scan history" />}
      {scans?.length === 0 && (
        <EmptyState
          icon={<IconFiles size={28} stroke={1.7} />}
          title="No scans yet"
          sentence="Drop a file above, and what was found in it stands here."
        />
      )}
      {scans && scans.length > 0 && (
        <ul>
          {scans.map((scan) => (
            <ScanRow key={scan.id} scan={scan} now={now} detailed to={`/antivirus?scan=${scan.id}`} />
          ))}
        </ul>
      )}
    </Card>
  );
}
