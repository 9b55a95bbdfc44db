import { formatList, formatNumber, plural } from '@palisade/contract/intl';
import { useSyncExternalStore } from 'react';
import { shownNameOf } from '#ui/shown-name.ts';
import { isEnded, type Upload, type UploadQueue } from './upload-queue.ts';

/** So many lines stay in the page; what was said is not said again when older ones go. */
const KEPT_LINES = 20;

function isInfected({ state }: Upload): boolean {
  return state.phase === 'done' && state.scan.scan_status === 'infected';
}

/** Outcome of one file, for screen readers; undefined before it, and for the person's own actions. */
function lineOf({ file, state }: Upload): string | undefined {
  const { whole } = shownNameOf(file.name);
  if (state.phase === 'failed') return `${whole}: not scanned. ${state.sentence}`;
  if (state.phase !== 'done') return undefined;
  const { scan_status, threat_detected } = state.scan;
  if (scan_status === 'clean') return `${whole}: clean`;
  if (scan_status === 'pending') return `${whole}: pending`;
  return `${whole}: infected${threat_detected === null ? '' : `, ${threat_detected}`}`;
}

/** The infected files of the files that were dropped last: each when it is found, and all of them once more at the end, after everything else. */
function warningOf(uploads: readonly Upload[]): string | undefined {
  const latest = uploads.at(-1)?.batch;
  const batch = uploads.filter((upload) => upload.batch === latest);
  const infected = batch.filter(isInfected);
  const last = infected.at(-1);
  if (!last) return undefined;
  if (batch.length === 1 || !batch.every(isEnded)) return `${lineOf(last)}. Don’t open it.`;
  const names = formatList(
    infected.map(({ file }) => shownNameOf(file.name).whole),
    'plain',
  );
  const figures = { infected: formatNumber(infected.length), all: formatNumber(batch.length) };
  return plural(infected.length, {
    one: `${figures.infected} of ${figures.all} files is infected: ${names}. Don’t open it.`,
    other: `${figures.infected} of ${figures.all} files are infected: ${names}. Don’t open them.`,
  });
}

/** Tells what became of each file, on whichever screen the person is: the infected ones at once and last, the others in turn. */
export function UploadAnnouncer({ queue }: { queue: UploadQueue }) {
  const uploads = useSyncExternalStore(queue.subscribe, queue.read);
  const quiet = uploads.filter((upload) => isEnded(upload) && !isInfected(upload)).slice(-KEPT_LINES);
  return (
    <div className="visually-hidden">
      <div aria-live="polite" aria-relevant="additions">
        {quiet.map((upload) => (
          <p key={upload.id}>{lineOf(upload)}</p>
        ))}
      </div>
      <p aria-live="assertive">{warningOf(uploads)}</p>
    </div>
  );
}
