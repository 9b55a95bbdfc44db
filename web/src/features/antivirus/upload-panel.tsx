import type { Scan } from '@palisade/contract/antivirus';
import type { ScanProgress } from '@palisade/contract/events';
import { SCAM_FILE_MAXIMUM } from '@palisade/contract/scam-check';
import { Link } from 'react-router';
import { CheckThis } from '#domain/scam/check-this.tsx';
import { describeDetail } from '#domain/scan/scan-sentence.ts';
import { StatusBadge } from '#domain/scan/status-badge.tsx';
import { Button } from '#ui/button.tsx';
import { describeBytes } from '#ui/bytes.ts';
import { Card } from '#ui/card.tsx';
import { FileName } from '#ui/file-name.tsx';
import { isEnded, type Upload, type UploadState } from './upload-queue.ts';
import { useUploads } from './uploads.tsx';
import './upload-panel.css';

/** Emails, which the scam check reads as well. */
const MAIL = /\.(?:eml|msg)$/iu;

/** Text for a file that the server has. */
function describeProgress(progress: ScanProgress | undefined): string {
  if (progress === undefined) return 'Scanning…';
  if (progress.stage === 'queued') {
    return progress.place === 1 ? 'Waiting to be scanned: next' : `Waiting to be scanned: place ${progress.place}`;
  }
  const { share, members_found, members_read } = progress;
  if (members_found === 1) return 'Unpacking one file';
  if (members_found > 0) return `Unpacked ${members_read} of ${members_found} files`;
  return share < 1 ? `Scanning ${Math.floor(share * 100)} %` : 'Scanning…';
}

/** Progress of the engine, from 0 to 1, where it is known. */
function shareOf(progress: ScanProgress | undefined): number | undefined {
  if (progress?.stage !== 'reading') return undefined;
  const { share, members_found, members_read } = progress;
  if (members_found > 0) return members_read > 0 ? members_read / members_found : undefined;
  return share < 1 ? share : undefined;
}

/** Text for a scanned file, beside its status. */
function describeEnd(scan: Scan): string {
  return scan.threat_detected ?? describeDetail(scan) ?? 'Nothing harmful was found';
}

/** Text for a file on its way. */
function describeState(state: UploadState): string {
  switch (state.phase) {
    case 'waiting':
      return state.is_refused ? 'The scanner is busy. Trying again soon…' : 'Waiting';
    case 'sending':
      return `Uploading ${Math.floor(state.share * 100)} %`;
    case 'scanning':
      return state.is_cancelling ? 'Cancelling…' : describeProgress(state.progress);
    case 'done':
      return describeEnd(state.scan);
    case 'failed':
      return state.sentence;
    case 'cancelled':
      return 'Cancelled';
  }
}

/** The files of this visit, from the drop to the answer. Not there while there are none. */
export function UploadPanel() {
  const { queue, uploads } = useUploads();
  if (uploads.length === 0) return null;
  const ended = uploads.filter(isEnded).length;

  return (
    <Card
      title={ended === uploads.length ? 'Uploads' : `Uploads: ${ended} of ${uploads.length} done`}
      action={
        ended > 0 && (
          <Button variant="text" size="s" onClick={() => queue.clearEnded()}>
            Clear finished
          </Button>
        )
      }
    >
      <ul className="upload-list">
        {uploads.map((upload) => (
          <UploadRow
            key={upload.id}
            upload={upload}
            onCancel={() => queue.cancel(upload.id)}
            onRetry={() => queue.retry(upload.id)}
          />
        ))}
      </ul>
    </Card>
  );
}

interface UploadRowProps {
  upload: Upload;
  onCancel: () => void;
  onRetry: () => void;
}

function UploadRow({ upload, onCancel, onRetry }: UploadRowProps) {
  const { file, state } = upload;
  const canRetry = state.phase === 'cancelled' || (state.phase === 'failed' && !state.is_final);
  return (
    <li className="upload-row" data-phase={state.phase}>
      <div className="upload-row__what">
        <span className="upload-row__name">
          <FileName name={file.name} />
        </span>
        <span className="upload-row__size num">{describeBytes(file.size)}</span>
      </div>
      <span className="upload-row__state num">
        {describeState(state)}
        {state.phase === 'done' && state.scan.scan_status !== 'clean' && <WayToAdvice scan={state.scan} />}
      </span>
      <div className="upload-row__end">
        {state.phase === 'done' && MAIL.test(file.name) && file.size <= SCAM_FILE_MAXIMUM && (
          <CheckThis what={() => ({ file })} name={file.name} />
        )}
        {state.phase === 'done' && <StatusBadge status={state.scan.scan_status} />}
        {!isEnded(upload) && !(state.phase === 'scanning' && state.is_cancelling) && (
          <Button variant="quiet" size="s" onClick={onCancel} aria-label={`Cancel ${file.name}`}>
            Cancel
          </Button>
        )}
        {canRetry && (
          <Button variant="quiet" size="s" onClick={onRetry} aria-label={`Retry ${file.name}`}>
            Retry
          </Button>
        )}
      </div>
      <UploadBar name={file.name} state={state} />
    </li>
  );
}

/** A person with an infected file needs the next step. */
function WayToAdvice({ scan }: { scan: Scan }) {
  return (
    <>
      {' '}
      <Link to={`/antivirus?scan=${scan.id}`} preventScrollReset>
        What to do
      </Link>
    </>
  );
}

function UploadBar({ name, state }: { name: string; state: UploadState }) {
  if (state.phase === 'sending') {
    return <progress className="upload-bar" max={1} value={state.share} aria-label={`Upload of ${name}`} />;
  }
  if (state.phase === 'scanning') {
    const share = state.is_cancelling ? undefined : shareOf(state.progress);
    return <progress className="upload-bar" max={1} value={share} aria-label={`Scan of ${name}`} />;
  }
  return null;
}
