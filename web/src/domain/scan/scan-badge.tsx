import type { Scan } from '@palisade/contract/antivirus';
import { IconTestPipe } from '@tabler/icons-react';
import { Badge, IconTile } from '#ui/badge.tsx';
import { StatusBadge, StatusIcon } from './status-badge.tsx';

interface ScanBadgeProps {
  scan: Pick<Scan, 'scan_status' | 'is_test_file'>;
}

/** Engines report a harmless test file as infected, but it is no danger. */
const isTest = ({ scan_status, is_test_file }: ScanBadgeProps['scan']) => scan_status === 'infected' && is_test_file;

/** The result of a scan, with the same words everywhere. */
export function ScanBadge({ scan }: ScanBadgeProps) {
  if (!isTest(scan)) return <StatusBadge status={scan.scan_status} />;
  return (
    <Badge tone="note" icon={IconTestPipe}>
      Infected (test)
    </Badge>
  );
}

export function ScanIcon({ scan }: ScanBadgeProps) {
  return isTest(scan) ? <IconTile tone="note" icon={IconTestPipe} /> : <StatusIcon status={scan.scan_status} />;
}
