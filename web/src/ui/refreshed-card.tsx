import { IconRefresh } from '@tabler/icons-react';
import { type ReactNode, useTransition } from 'react';
import { Button } from './button.tsx';
import { Card } from './card.tsx';

interface RefreshedCardProps {
  title: string;
  /** Refetches the content of the card. */
  onRefresh: () => Promise<unknown>;
  /** Content of the card; `refresh` serves a Retry button inside it. */
  children: (refresh: () => void) => ReactNode;
}

/** A card with a Refresh button that is busy during the refetch. */
export function RefreshedCard({ title, onRefresh, children }: RefreshedCardProps) {
  const [isRefreshing, startRefresh] = useTransition();
  const refresh = () =>
    startRefresh(async () => {
      await onRefresh();
    });
  return (
    <Card
      title={title}
      action={
        <Button variant="quiet" size="s" icon={IconRefresh} loading={isRefreshing} onClick={refresh}>
          Refresh
        </Button>
      }
    >
      {children(refresh)}
    </Card>
  );
}
