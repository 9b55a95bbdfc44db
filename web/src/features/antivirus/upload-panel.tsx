import type { ScanProgress } from '@palisade/contract/events';
import { describeBytes, formatNumber, formatProgress, listFirst, plural } from '@palisade/contract/intl';
import { SCAM_FILE_MAXIMUM } from '@palisade/contract/scam-check';
import {
  IconAlertTriangle,
  IconClock,
  IconFileSearch,
  IconShieldCheck,
  IconTestPipe,
  type TablerIcon,
} from '@tabler/icons-react';
import { useEffect, useState } from 'react';
import { CheckThis } from '#domain/scam/check-this.tsx';
import { Badge } from '#ui/badge.tsx';
import { Button } from '#ui/button.tsx';
import { ScreenLink } from '#ui/button-link.tsx';
import { FileName } from '#ui/file-name.tsx';
import { Grid, Row, Stack } from '#ui/layout.tsx';
import { LeadWords } from '#ui/lead.tsx';
import { ShowMore } from '#ui/show-more.tsx';
import { shownNameOf } from '#ui/shown-name.ts';
import { canRetry, hasFailed } from './upload-queue.ts';
import { isEnded, isRunning, type Upload, type UploadState } from './upload-state.ts';
import {
  byUrgency,
  describeResult,
  describeSummary,
  describeTimeLeft,
  isInfected,
  scanOfUpload,
  shareOf,
  summaryOf,
  type UploadSummary,
} from './upload-summary.ts';
import { useUploads } from './use-uploads.ts';
import './upload-panel.css';

/** Emails, which the scam check also reads. */
const MAIL = /\.(?:eml|msg)$/iu;

/** Text for a file that has been sent completely. */
function describeProgress(progress: ScanProgress | undefined): string {
  if (progress === undefined) return 'Scanning…';
  if (progress.stage === 'queued' && progress.place === 1) return 'Next in line';
  if (progress.stage === 'queued') return `Number ${formatNumber(progress.place)} in line`;
  const { share, members_found, members_read } = progress;
  if (members_found > 0)
    return plural(members_found, {
      one: 'Unpacking one file',
      other: `Unpacked ${formatNumber(members_read)} of ${formatNumber(members_found)} files`,
    });
  return share < 1 ? `Scanning ${formatProgress(share)}` : 'Scanning…';
}

/** Text for a file without a scan record. */
function describeState(state: UploadState): string {
  switch (state.phase) {
    case 'waiting':
      return state.is_refused ? 'The scanner is busy. We’ll try again soon.' : 'Waiting';
    case 'sending':
      return `Uploading ${formatProgress(state.share)}`;
    case 'scanning':
      return state.is_cancelling ? 'Cancelling…' : describeProgress(state.progress);
    case 'failed':
      return state.sentence;
    case 'cancelled':
      return 'Cancelled';
    case 'done':
      return '';
  }
}

interface Answer {
  tone: 'good' | 'attention' | 'danger' | 'note';
  icon: TablerIcon;
  title: string;
  sentence: string;
}

/** The names of the infected files. */
function namesOf(uploads: readonly Upload[]): string {
  return listFirst(uploads.filter(isInfected).map(({ file }) => shownNameOf(file.name).whole));
}

/** Summary and advice for all files of a batch. */
function answerOf(uploads: readonly Upload[], summary: UploadSummary): Answer {
  const { total, ended, infected, test_files, pending, failed, cancelled, ms_left } = summary;
  const results = describeSummary(summary);
  const only = total === 1 ? uploads[0] : undefined;
  const name = only && shownNameOf(only.file.name).whole;
  if (ended < total) {
    const left = ms_left === undefined ? '' : describeTimeLeft(ms_left);
    const bad = infected > 0 ? `Don’t open ${namesOf(uploads)}.` : '';
    return {
      tone: infected > 0 ? 'danger' : 'good',
      icon: infected > 0 ? IconAlertTriangle : IconFileSearch,
      title: name === undefined ? `${formatNumber(ended)} of ${formatNumber(total)} files checked` : `Scanning ${name}`,
      sentence:
        [results === '' ? '' : `So far: ${results}.`, bad, left].filter((text) => text !== '').join(' ') ||
        'You can leave this page.',
    };
  }
  const title = name === undefined ? results : `${name}: ${describeResult(summary)}`;
  if (infected > 0) {
    const names = namesOf(uploads);
    const sentence = plural(infected, {
      one: only === undefined ? `Don’t open ${names}. Delete it from your device.` : 'Don’t open it. Delete it from your device.',
      other: `Don’t open ${names}. Delete them from your device.`,
    });
    return { tone: 'danger', icon: IconAlertTriangle, title, sentence };
  }
  if (failed > 0)
    return { tone: 'attention', icon: IconAlertTriangle, title, sentence: 'We couldn’t scan everything. See why below.' };
  if (pending > 0) {
    return { tone: 'attention', icon: IconClock, title, sentence: `Don’t open pending files until they’re checked.` };
  }
  if (test_files > 0) return { tone: 'note', icon: IconTestPipe, title, sentence: 'Test files are harmless.' };
  if (cancelled === total)
    return { tone: 'note', icon: IconClock, title, sentence: 'Nothing was scanned. Your files are unchanged.' };
  return { tone: 'good', icon: IconShieldCheck, title, sentence: 'No threats found.' };
}

/** Interval at which the remaining time is updated, in ms. */
const TICK_MS = 1_000;

function useTick(isOn: boolean): number {
  const [now, setNow] = useState(() => Date.now());
  useEffect(() => {
    if (!isOn) return;
    const timer = setInterval(() => setNow(Date.now()), TICK_MS);
    return () => clearInterval(timer);
  }, [isOn]);
  return now;
}

/** Number of rows before "show more". */
const SHOWN = 4;

/** Files without a scan record: running first, then failed, waiting and cancelled ones. */
function rowsOf(uploads: readonly Upload[]): Upload[] {
  const rank = (upload: Upload) => (isRunning(upload) ? 0 : hasFailed(upload) ? 1 : isEnded(upload) ? 3 : 2);
  return uploads.filter(({ state }) => state.phase !== 'done').toSorted((one, other) => rank(one) - rank(other));
}

/** The files of this visit: one summary, overall progress, and the files that have no scan record yet. Finished scans are in the history. */
export function UploadPanel() {
  const { queue, uploads } = useUploads();
  const isBusy = !uploads.every(isEnded);
  const now = useTick(isBusy);
  const [shown, setShown] = useState(SHOWN);
  if (uploads.length === 0) return null;
  const summary = summaryOf(uploads, now);
  const answer = answerOf(uploads, summary);
  const rows = rowsOf(uploads);
  const retried = uploads.filter((upload) => hasFailed(upload) && canRetry(upload)).length;

  return (
    <Stack as="section" gap="4" className="card uploads" aria-label="Uploads" data-tone={answer.tone}>
      <div className="lead__line break">
        <LeadWords icon={answer.icon} title={answer.title} sentence={answer.sentence} />
        <Row phone="fill" gap="2" justify="end">
          <WayToAdvice uploads={uploads} />
          {retried > 1 && !isBusy && (
            <Button variant="quiet" onClick={() => queue.retryFailed()}>
              {plural(retried, { one: 'Retry 1 file', other: `Retry ${formatNumber(retried)} files` })}
            </Button>
          )}
          {isBusy ? (
            <Button variant="quiet" onClick={() => queue.cancelAll()}>
              Cancel all
            </Button>
          ) : (
            <Button variant="quiet" onClick={() => queue.clearEnded()}>
              Close summary
            </Button>
          )}
        </Row>
      </div>
      {isBusy && uploads.length > 1 && (
        <progress
          className="upload-bar span block full rounded-s"
          max={1}
          value={summary.share}
          aria-label="Progress of all files"
        />
      )}
      {rows.length > 0 && (
        <ul className="line-above" aria-label="Files on their way">
          {rows.slice(0, shown).map((upload) => (
            <UploadRow
              key={upload.id}
              upload={upload}
              onCancel={() => queue.cancel(upload.id)}
              onRetry={() => queue.retry(upload.id)}
            />
          ))}
        </ul>
      )}
      {rows.length > shown && <ShowMore left={rows.length - shown} onMore={() => setShown(shown + 50)} />}
    </Stack>
  );
}

interface UploadRowProps {
  upload: Upload;
  onCancel: () => void;
  onRetry: () => void;
}

function UploadRow({ upload, onCancel, onRetry }: UploadRowProps) {
  const { file, state } = upload;
  const path = file.webkitRelativePath;
  return (
    <Grid as="li" gap="4" rowGap="1" align="center" className="upload-row pad-row line-between" data-phase={state.phase}>
      <Row wrap={false} gap="3" rowGap="0" align="baseline" className="upload-row__what shrink">
        <span className="medium base shrink" title={path === '' ? undefined : path}>
          <FileName name={file.name} />
        </span>
        <span className="num faint small nowrap">{describeBytes(file.size)}</span>
      </Row>
      <span className="upload-row__state num muted small break">{describeState(state)}</span>
      <Row gap="2" justify="end" className="upload-row__end">
        {state.phase === 'done' && MAIL.test(file.name) && file.size <= SCAM_FILE_MAXIMUM && (
          <CheckThis what={() => ({ file })} name={file.name} />
        )}
        {hasFailed(upload) && (
          <Badge tone="attention" icon={IconAlertTriangle}>
            Not scanned
          </Badge>
        )}
        {!isEnded(upload) && !(state.phase === 'scanning' && state.is_cancelling) && (
          <Button variant="quiet" size="s" onClick={onCancel} aria-label={`Cancel ${file.name}`}>
            Cancel
          </Button>
        )}
        {canRetry(upload) && (
          <Button variant="quiet" size="s" onClick={onRetry} aria-label={`Retry ${file.name}`}>
            Retry
          </Button>
        )}
      </Row>
      <UploadBar name={file.name} state={state} />
    </Grid>
  );
}

/** Link to the next step for infected and pending files: the advice for a single file, or the list of several. */
function WayToAdvice({ uploads }: { uploads: readonly Upload[] }) {
  const [first, second] = uploads
    .flatMap((upload) => scanOfUpload(upload) ?? [])
    .filter(({ scan_status }) => scan_status !== 'clean')
    .toSorted(byUrgency);
  if (first === undefined) return null;
  const isOnly = second === undefined || second.scan_status !== first.scan_status || second.is_test_file;
  return isOnly ? (
    <ScreenLink to={`/antivirus?scan=${first.id}`} variant="quiet" preventScrollReset>
      {first.is_test_file ? 'See details' : 'What to do'}
    </ScreenLink>
  ) : (
    <Button variant="quiet" onClick={goToResults}>
      Show results
    </Button>
  );
}

/** Id of the heading above the files scanned just now; infected ones come first. */
export const RESULTS_ID = 'scan-results';

function goToResults() {
  const heading = document.getElementById(RESULTS_ID);
  heading?.scrollIntoView({ block: 'start' });
  heading?.nextElementSibling?.querySelector('a')?.focus({ preventScroll: true });
}

function UploadBar({ name, state }: { name: string; state: UploadState }) {
  if (state.phase === 'sending') {
    return (
      <progress className="upload-bar span block full rounded-s" max={1} value={state.share} aria-label={`Upload of ${name}`} />
    );
  }
  if (state.phase === 'scanning') {
    const share = state.is_cancelling ? undefined : shareOf(state.progress);
    return <progress className="upload-bar span block full rounded-s" max={1} value={share} aria-label={`Scan of ${name}`} />;
  }
  return null;
}
