import type { ReactNode } from 'react';
import { CallError, sentenceOf } from '#api/call.ts';
import { ModalWindow } from './modal-window.tsx';
import { ErrorNotice, LoadingRows } from './states.tsx';
import './detail-dialog.css';

interface DetailDialogProps<Shown> {
  title: string;
  sentences: { loading: string; failed: string; missing: string };
  /** Undefined while loading. */
  shown: Shown | undefined;
  error: Error | null;
  onRetry: () => unknown;
  onClose: () => void;
  children: (shown: Shown) => ReactNode;
}

/** All facts about a record in a dialog, in parts with headings, the answer first. */
export function DetailDialog<Shown>({ title, sentences, shown, error, onRetry, onClose, children }: DetailDialogProps<Shown>) {
  const isMissing = error instanceof CallError && error.status === 404;
  return (
    <ModalWindow title={title} size={640} onClose={onClose}>
      {shown && <div className="detail">{children(shown)}</div>}
      {!shown && !error && <LoadingRows label={sentences.loading} />}
      {!shown && error && (
        <ErrorNotice
          title={isMissing ? sentences.missing : sentences.failed}
          sentence={sentenceOf(error)}
          onRetry={() => void onRetry()}
        />
      )}
    </ModalWindow>
  );
}

export function DetailPart({ title, children }: { title: string; children: ReactNode }) {
  return (
    <section className="detail__part shrink">
      <h3>{title}</h3>
      {children}
    </section>
  );
}

/** Facts with labels, one in each line. */
export function Facts({ children }: { children: ReactNode }) {
  return <dl className="detail__facts">{children}</dl>;
}

export function Fact({ name, children }: { name: string; children: ReactNode }) {
  return (
    <div>
      <dt>{name}</dt>
      <dd>{children}</dd>
    </div>
  );
}
