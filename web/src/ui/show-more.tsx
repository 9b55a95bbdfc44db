import { formatNumber } from '@palisade/contract/intl';
import { Button } from './button.tsx';
import './show-more.css';

interface ShowMoreProps {
  /** Number of hidden rows; undefined if unknown. */
  left?: number | undefined;
  loading?: boolean;
  onMore: () => unknown;
}

/** Button at the end of a list that has more rows. */
export function ShowMore({ left, loading = false, onMore }: ShowMoreProps) {
  return (
    <div className="show-more">
      <Button variant="quiet" loading={loading} onClick={() => void onMore()}>
        {left === undefined ? 'Show more' : `Show more (${formatNumber(left)} left)`}
      </Button>
    </div>
  );
}
