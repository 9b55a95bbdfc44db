import { IconRefresh } from '@tabler/icons-react';
import { type ReactNode, useTransition } from 'react';
import { Button } from './button.tsx';
import { Card } from './card.tsx';

interface RefreshedCardProps {
  title: string;
  /** Reads anew what the card shows. */
  onRefresh: () => Promise<unknown>;
  /** The parts of the card, with what the button does, for a Retry among them. */
  children: (refresh: () => void) => ReactNode;
}

/** A card with a Refresh button, which shows how long reading anew takes. */
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
