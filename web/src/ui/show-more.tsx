import { formatNumber } from '@palisade/contract/intl';
import { Button } from './button.tsx';
import './show-more.css';

interface ShowMoreProps {
  /** Number of hidden rows; undefined where it is unknown. */
  left?: number | undefined;
  loading?: boolean;
  onMore: () => unknown;
}

/** At the end of a list with more rows. */
export function ShowMore({ left, loading = false, onMore }: ShowMoreProps) {
  return (
    <div className="show-more">
      <Button variant="quiet" loading={loading} onClick={() => void onMore()}>
        Show more{left !== undefined && ` (${formatNumber(left)} left)`}
      </Button>
    </div>
  );
}
