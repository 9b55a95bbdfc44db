import type { ScanKind } from '@palisade/contract/agent';
import type { Device, DeviceScan } from '@palisade/contract/devices';
import { formatNumber, plural } from '@palisade/contract/intl';
import { useState } from 'react';
import { Button } from '#ui/button.tsx';
import { Row, Stack } from '#ui/layout.tsx';
import { Moment, useMinute } from '#ui/moment.tsx';
import { Sentence } from '#ui/sentence.tsx';
import { unreadOf } from './device-health.ts';
import { isOver, SCANS } from './device-words.ts';
import { PathForm } from './path-form.tsx';

interface DeepScanProps {
  device: Device;
  /** `path` is the folder of a folder scan. */
  onStart: (scan: ScanKind, path: string | null) => void;
  onSteer: (scan_id: string, wanted: 'run' | 'pause' | 'cancel') => void;
}

/** The scan of a device: progress, results, and buttons to start one. */
export function DeepScan({ device, onStart, onSteer }: DeepScanProps) {
  const now = useMinute();
  const { scan, last_full_scan_at, capabilities } = device;
  const running = scan !== null && !isOver(scan) ? scan : undefined;
  const progress = scan?.progress;
  const [isChoosing, setIsChoosing] = useState(false);
  return (
    <Stack gap="2" className="top shrink base">
      <h3>Deep scan</h3>
      {capabilities?.scanner === false ? (
        <p className="sub">{capabilities.scanner_reason ?? 'This device can’t scan files.'}</p>
      ) : (
        <>
          <p>
            {scan === null && (last_full_scan_at === null ? 'No scans yet.' : 'No scans from this page yet.')}
            {scan !== null && <State scan={scan} />}
            {scan !== null && scan.files_found > 0 && (
              <b className="red">
                {' '}
                {plural(scan.files_found, {
                  one: '1 infected file.',
                  other: `${formatNumber(scan.files_found)} infected files.`,
                })}
              </b>
            )}
          </p>
          {running && progress && (
            <>
              <progress
                aria-label="Progress of the scan"
                max={Math.max(1, progress.files_total)}
                value={progress.files_read + progress.files_known}
              />
              <p className="sub num">
                {progress.seconds_left === null
                  ? describeFiles(progress)
                  : `${describeFiles(progress)}, ${formatNumber(Math.ceil(progress.seconds_left / 60))} min left`}
              </p>
              {progress.path !== null && <bdi className="block muted mono tiny break">{progress.path}</bdi>}
            </>
          )}
          {scan?.signatures_version && <p className="sub">{`Threat definitions ${scan.signatures_version}`}</p>}
          <p className="sub">
            {last_full_scan_at === null ? (
              'No full scan finished yet.'
            ) : (
              <>
                Last full scan: <Moment iso={last_full_scan_at} now={now} />
              </>
            )}
          </p>
          <Row gap="2">
            {running ? (
              <>
                {running.state === 'paused' ? (
                  <Button size="s" variant="quiet" onClick={() => onSteer(running.id, 'run')}>
                    Resume
                  </Button>
                ) : (
                  <Button size="s" variant="quiet" onClick={() => onSteer(running.id, 'pause')}>
                    Pause
                  </Button>
                )}
                <Button size="s" variant="quiet" onClick={() => onSteer(running.id, 'cancel')}>
                  Cancel scan
                </Button>
              </>
            ) : (
              <>
                <Button size="s" variant="quiet" onClick={() => onStart('quick', null)}>
                  Quick scan
                </Button>
                <Button size="s" variant="quiet" onClick={() => onStart('full', null)}>
                  Full scan
                </Button>
                <Button size="s" variant="quiet" aria-expanded={isChoosing} onClick={() => setIsChoosing(!isChoosing)}>
                  Scan a folder
                </Button>
              </>
            )}
          </Row>
          {isChoosing && !running && (
            <PathForm
              label="Folder to scan"
              action="Scan"
              onSubmit={(path) => {
                setIsChoosing(false);
                onStart('folder', path);
              }}
            />
          )}
        </>
      )}
    </Stack>
  );
}

/** The state of a scan, and the number of unreadable files. */
function State({ scan }: { scan: DeviceScan }) {
  const words = SCANS[scan.scan][scan.state];
  const state = scan.reason === null ? words : `${words}: ${scan.reason}`;
  const unread = unreadOf(scan);
  if (unread === undefined) return `${state}.`;
  return (
    <Sentence text="{state}, but {unread} couldn’t be checked." parts={{ state, unread: <b className="red">{unread}</b> }} />
  );
}

/** Number of files read, of those known so far. */
function describeFiles({ files_read, files_known, files_total, is_counted }: NonNullable<DeviceScan['progress']>): string {
  const figures = { read: formatNumber(files_read + files_known), total: formatNumber(files_total) };
  return is_counted
    ? plural(files_total, {
        one: `${figures.read} of ${figures.total} file`,
        other: `${figures.read} of ${figures.total} files`,
      })
    : plural(files_total, {
        one: `${figures.read} of at least ${figures.total} file`,
        other: `${figures.read} of at least ${figures.total} files`,
      });
}
