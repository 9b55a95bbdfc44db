import type { Scan } from '@palisade/contract/antivirus';
import { IconFiles } from '@tabler/icons-react';
import { Link } from 'react-router';
import { ScanRow } from '#domain/scan/scan-row.tsx';
import { Card } from '#ui/card.tsx';
import { useMinute } from '#ui/moment.tsx';
import { EmptyState, ErrorNotice, LoadingRows } from '#ui/states.tsx';

interface ActivityLogProps {
  scans: readonly Scan[] | undefined;
  failure: string | undefined;
  onRetry: () => void;
}

export function ActivityLog({ scans, failure, onRetry }: ActivityLogProps) {
  const now = useMinute();
  return (
    <Card title="Activity" action={scans && scans.length > 0 && <Link to="/antivirus">All scans</Link>}>
      {failure !== undefined && (
        <ErrorNotice title="Your security status could not be read" sentence={failure} onRetry={onRetry} />
      )}
      {!scans && failure === undefined && <LoadingRows label="Loading the latest scans" />}
      {scans?.length === 0 && (
        <EmptyState icon={IconFiles} title="No scans yet" sentence="Each file that you scan is listed here, with the answer." />
      )}
      {scans && scans.length > 0 && (
        <ul>
          {scans.map((scan) => (
            <ScanRow key={scan.id} scan={scan} now={now} />
          ))}
        </ul>
      )}
    </Card>
  );
}
