import { IconCloudOff, IconSearch, type TablerIcon } from '@tabler/icons-react';
import type { ReactNode } from 'react';
import { Button } from './button.tsx';
import './states.css';

/** Rows of the placeholder of a list. */
const ROWS = ['first', 'second', 'third', 'fourth'];

/** Placeholder of a list while it loads. */
export function LoadingRows({ label }: { label: string }) {
  return (
    <div role="status" aria-label={label} className="loading-rows">
      {ROWS.map((row) => (
        <div key={row} className="loading-rows__row rounded-s" />
      ))}
    </div>
  );
}

interface EmptyStateProps {
  icon: TablerIcon;
  title: string;
  sentence: string;
  action?: ReactNode;
  /** A `Drawing` in place of the icon, if the screen shows nothing else. */
  drawing?: ReactNode;
  /** One compact line, for a state that needs no action and has content below. */
  isSmall?: boolean;
  iconSize?: number;
}

export function EmptyState({
  icon: Icon,
  title,
  sentence,
  action,
  drawing,
  isSmall = false,
  iconSize = isSmall ? 20 : 28,
}: EmptyStateProps) {
  return (
    <div className="empty-state" data-small={isSmall || undefined}>
      {drawing ?? (
        <span className="empty-state__icon accent below-1" aria-hidden="true">
          <Icon size={iconSize} stroke={1.7} />
        </span>
      )}
      <p className="empty-state__title large bold">{title}</p>
      <p className="sub">{sentence}</p>
      {action}
    </div>
  );
}

/** Shown if a search or a filter has no results, with a button that resets it. */
export function NothingMatches({
  title,
  sentence,
  all,
  onAll,
}: Record<'title' | 'sentence' | 'all', string> & { onAll: () => void }) {
  return (
    <EmptyState
      icon={IconSearch}
      title={title}
      sentence={sentence}
      action={
        <Button variant="quiet" onClick={onAll}>
          {all}
        </Button>
      }
    />
  );
}

/** A failure next to the content: the failed action, the reason, and a button to try again. */
export function ErrorNotice({ title, sentence, onRetry }: { title: string; sentence: string; onRetry: () => void }) {
  return (
    <div role="alert" className="error-notice rounded">
      <IconCloudOff size={20} stroke={1.7} aria-hidden="true" />
      <div>
        <p className="medium">{title}</p>
        <p className="sub">{sentence}</p>
      </div>
      <Button variant="quiet" onClick={onRetry}>
        Retry
      </Button>
    </div>
  );
}
