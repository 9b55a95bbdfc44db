import { formatNumber, listFirst, plural } from '@palisade/contract/intl';
import { useEffect, useState, useSyncExternalStore } from 'react';
import { shownNameOf } from '#ui/shown-name.ts';
import { isEnded, type Upload, type UploadsRead } from './upload-state.ts';
import { describeSummary, isInfected, scanOfUpload, summaryOf } from './upload-summary.ts';

/** Maximum number of files for which each result is announced; for more, only totals are announced. */
const EACH_MAXIMUM = 5;
/** Interval between two announced totals, in ms. */
const SUMS_PAUSE = 20_000;
/** Number of lines kept in the page. Removing older lines is not announced. */
const KEPT_LINES = 20;

const useUploadsOf = (queue: UploadsRead) => useSyncExternalStore(queue.subscribe, queue.read);

/** The files of the latest batch. */
function latestOf(uploads: readonly Upload[]): readonly Upload[] {
  const latest = uploads.at(-1)?.batch;
  return uploads.filter(({ batch }) => batch === latest);
}

/** Result of one file; undefined while it is pending and after the person’s own actions. */
function lineOf(upload: Upload): string | undefined {
  const { whole } = shownNameOf(upload.file.name);
  if (upload.state.phase === 'failed') return `${whole}: not scanned. ${upload.state.sentence}`;
  const scan = scanOfUpload(upload);
  if (scan === undefined) return undefined;
  if (scan.scan_status === 'clean') return `${whole}: clean`;
  if (scan.scan_status === 'pending') return `${whole}: pending`;
  if (scan.is_test_file) return `${whole}: harmless test file`;
  return scan.threat_detected === null ? `${whole}: infected` : `${whole}: infected, ${scan.threat_detected}`;
}

/** Warning about infected files: each when it is found, and all of them again at the end. */
function warningOf(batch: readonly Upload[]): string | undefined {
  const infected = batch.filter(isInfected);
  const last = infected.at(-1);
  if (!last) return undefined;
  if (batch.length === 1 || !batch.every(isEnded)) return `${lineOf(last)}. Don’t open it.`;
  const names = listFirst(infected.map(({ file }) => shownNameOf(file.name).whole));
  const figures = { infected: formatNumber(infected.length), all: formatNumber(batch.length) };
  return plural(infected.length, {
    one: `${figures.infected} of ${figures.all} files is infected: ${names}. Don’t open it.`,
    other: `${figures.infected} of ${figures.all} files are infected: ${names}. Don’t open them.`,
  });
}

export function Warning({ queue }: { queue: UploadsRead }) {
  return warningOf(latestOf(useUploadsOf(queue)));
}

/** Announces the result of each of a few files, or totals for many. Infected files have a separate warning. */
export function Outcomes({ queue }: { queue: UploadsRead }) {
  const uploads = useUploadsOf(queue);
  const batch = latestOf(uploads);
  if (batch.length > EACH_MAXIMUM) return <Sums key={batch[0]?.batch} queue={queue} batch={batch} />;
  return uploads
    .filter((upload) => isEnded(upload) && !isInfected(upload))
    .slice(-KEPT_LINES)
    .map((upload) => <p key={upload.id}>{lineOf(upload)}</p>);
}

/** Totals of a running batch; undefined before the first result. */
function describeSums(batch: readonly Upload[]): string | undefined {
  const summary = summaryOf(batch, Date.now());
  if (summary.ended === 0) return undefined;
  return `${formatNumber(summary.ended)} of ${formatNumber(summary.total)} files checked. So far: ${describeSummary(summary)}.`;
}

/** Announces the number of files at the start, totals at intervals, and the result at the end. */
function Sums({ queue, batch }: { queue: UploadsRead; batch: readonly Upload[] }) {
  const [said, setSaid] = useState<readonly string[]>([]);
  const isBusy = !batch.every(isEnded);
  const total = formatNumber(batch.length);
  useEffect(() => {
    if (!isBusy) return;
    const timer = setInterval(() => {
      const line = describeSums(latestOf(queue.read()));
      // Equal totals are announced once.
      setSaid((lines) => (line === undefined || lines.includes(line) ? lines : [...lines, line].slice(-KEPT_LINES)));
    }, SUMS_PAUSE);
    return () => clearInterval(timer);
  }, [queue, isBusy]);
  return (
    <>
      <p>{`Scanning ${total} files.`}</p>
      {said.map((line) => (
        <p key={line}>{line}</p>
      ))}
      {!isBusy && <p>{`${total} files done: ${describeSummary(summaryOf(batch, Date.now()))}.`}</p>}
    </>
  );
}
