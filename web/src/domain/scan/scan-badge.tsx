import type { Scan } from '@palisade/contract/antivirus';
import { IconCheck, IconTestPipe } from '@tabler/icons-react';
import { Badge, IconTile } from '#ui/badge.tsx';
import { StatusBadge, StatusIcon } from './status-badge.tsx';

interface ScanBadgeProps {
  scan: Pick<Scan, 'scan_status' | 'is_test_file' | 'infection' | 'status_detail'>;
}

/** Engines report a harmless test file as infected, although it is not dangerous. */
const isTest = ({ scan_status, is_test_file }: ScanBadgeProps['scan']) => scan_status === 'infected' && is_test_file;

/** An archive with a test file may contain files that were not read. */
const toneOfTest = ({ status_detail }: ScanBadgeProps['scan']) => (status_detail === null ? 'note' : 'attention');

/** The result of a scan, with the same words everywhere. */
export function ScanBadge({ scan }: ScanBadgeProps) {
  if (scan.infection?.state === 'closed') {
    return (
      <Badge tone="plain" icon={IconCheck}>
        {scan.infection.by === 'agent' ? 'Quarantined' : scan.infection.by === 'person' ? 'Deleted' : 'Closed'}
      </Badge>
    );
  }
  if (!isTest(scan)) return <StatusBadge status={scan.scan_status} />;
  return (
    <Badge tone={toneOfTest(scan)} icon={IconTestPipe}>
      Infected (test)
    </Badge>
  );
}

export function ScanIcon({ scan }: ScanBadgeProps) {
  if (scan.infection?.state === 'closed') return <IconTile tone="plain" icon={IconCheck} />;
  return isTest(scan) ? <IconTile tone={toneOfTest(scan)} icon={IconTestPipe} /> : <StatusIcon status={scan.scan_status} />;
}
