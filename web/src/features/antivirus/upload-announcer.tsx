import { useSyncExternalStore } from 'react';
import { lazyPart } from '#ui/lazy-part.tsx';
import type { UploadQueue } from './upload-queue.ts';

/** The words come with the first upload. Without them a screen reader still has the screen itself. */
const loadLines = () => import('./upload-lines.tsx').catch(() => undefined);
const Nothing = (_: { queue: UploadQueue }) => null;
const Outcomes = lazyPart(async () => (await loadLines())?.Outcomes ?? Nothing);
const Warning = lazyPart(async () => (await loadLines())?.Warning ?? Nothing);

/** Tells screen readers the outcome of files, on whichever screen the person is. The regions are there before the words, which are not read out otherwise. */
export function UploadAnnouncer({ queue }: { queue: UploadQueue }) {
  const hasUploads = useSyncExternalStore(queue.subscribe, () => queue.read().length > 0);
  return (
    <div className="visually-hidden">
      <div aria-live="polite" aria-relevant="additions">
        {hasUploads && <Outcomes queue={queue} />}
      </div>
      <p aria-live="assertive">{hasUploads && <Warning queue={queue} />}</p>
    </div>
  );
}
