import { Button } from './button.tsx';
import './show-more.css';

interface ShowMoreProps {
  /** How many are not shown; undefined where nobody has counted. */
  left?: number | undefined;
  loading?: boolean;
  onMore: () => unknown;
}

/** At the end of a list that goes on. */
export function ShowMore({ left, loading = false, onMore }: ShowMoreProps) {
  return (
    <div className="show-more">
      <Button variant="quiet" loading={loading} onClick={() => void onMore()}>
        Show more{left !== undefined && ` (${left} left)`}
      </Button>
    </div>
  );
}
