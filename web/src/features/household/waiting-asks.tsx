import { useQuery } from '@tanstack/react-query';
import { AskCard, waitingAsks } from '#domain/household/ask-card.tsx';
import { householdQuery } from '#domain/household/household.ts';
import { Card } from '#ui/card.tsx';
import { FocusKept } from '#ui/focus-kept.tsx';
import { Stack } from '#ui/layout.tsx';

/** Waiting requests of the household, on the dashboard. Renders nothing without any. */
export function WaitingAsks() {
  const { data: home } = useQuery(householdQuery);
  const waiting = home ? waitingAsks(home) : [];
  if (waiting.length === 0) return null;
  return (
    <Card title="May I?" level="raised">
      <FocusKept>
        <Stack gap="3">
          {waiting.map((one) => (
            <AskCard key={one.ask.id} {...one} />
          ))}
        </Stack>
      </FocusKept>
    </Card>
  );
}
