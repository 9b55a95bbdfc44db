import { useSyncExternalStore } from 'react';
import { lazyPart } from '#ui/lazy-part.tsx';
import type { UploadsRead } from './upload-state.ts';

/** Loaded with the first upload. If it fails to load, screen readers can still read the screen. */
const loadLines = () => import('./upload-lines.tsx').catch(() => undefined);
const Nothing = (_: { queue: UploadsRead }) => null;
const Outcomes = lazyPart(async () => (await loadLines())?.Outcomes ?? Nothing);
const Warning = lazyPart(async () => (await loadLines())?.Warning ?? Nothing);

/** Announces results of uploads to screen readers on every screen. Live regions must exist before their text, otherwise it is not announced. */
export function UploadAnnouncer({ queue }: { queue: UploadsRead }) {
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
