import type { ScanKind } from '@palisade/contract/agent';
import type { Device } from '@palisade/contract/devices';
import { useState } from 'react';
import { Button } from '#ui/button.tsx';
import { Moment, useMinute } from '#ui/moment.tsx';
import { unreadOf } from './device-health.ts';
import { isOver, SCAN_KINDS, SCAN_STATES } from './device-words.ts';
import { PathForm } from './path-form.tsx';

const count = new Intl.NumberFormat('en');

interface DeepScanProps {
  device: Device;
  /** The path is that of one folder. */
  onStart: (scan: ScanKind, path: string | null) => void;
  onSteer: (scan_id: string, wanted: 'run' | 'pause' | 'cancel') => void;
}

/** The scan of a device: what it does now, what it found, and the ways to begin one. */
export function DeepScan({ device, onStart, onSteer }: DeepScanProps) {
  const now = useMinute();
  const { scan, last_full_scan_at, capabilities } = device;
  const running = scan !== null && !isOver(scan) ? scan : undefined;
  const progress = scan?.progress;
  const unread = scan === null ? undefined : unreadOf(scan);
  const [isChoosing, setIsChoosing] = useState(false);
  return (
    <div className="device__part">
      <h3>Deep scan</h3>
      {capabilities?.scanner === false ? (
        <p className="sub">{capabilities.scanner_reason ?? 'This device can’t scan files.'}</p>
      ) : (
        <>
          <p>
            {scan === null
              ? last_full_scan_at === null
                ? 'No scans yet.'
                : 'No scans from this page yet.'
              : `${SCAN_KINDS[scan.scan]} ${SCAN_STATES[scan.state]}${scan.reason === null ? '' : `: ${scan.reason}`}${unread === undefined ? '.' : ', but'}`}
            {unread !== undefined && <b className="device__found"> {unread} couldn’t be checked.</b>}
            {scan !== null && scan.files_found > 0 && (
              <b className="device__found">
                {' '}
                {scan.files_found === 1 ? '1 infected file' : `${scan.files_found} infected files`}.
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
                {count.format(progress.files_read + progress.files_known)} of {progress.is_counted ? '' : 'at least '}
                {count.format(progress.files_total)} files
                {progress.seconds_left !== null && `, ${Math.ceil(progress.seconds_left / 60)} min left`}
              </p>
              {progress.path !== null && <bdi className="device__path">{progress.path}</bdi>}
            </>
          )}
          {scan?.signatures_version && <p className="sub">Threat definitions {scan.signatures_version}</p>}
          <p className="sub">
            {last_full_scan_at === null ? (
              'No full scan finished yet.'
            ) : (
              <>
                Last full scan: <Moment iso={last_full_scan_at} now={now} />
              </>
            )}
          </p>
          <div className="device__buttons">
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
          </div>
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
    </div>
  );
}
