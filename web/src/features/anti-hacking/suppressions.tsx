import type { Suppression } from '@palisade/contract/alerts';
import { formatNumber, plural } from '@palisade/contract/intl';
import { useQuery } from '@tanstack/react-query';
import { useId } from 'react';
import { Button } from '#ui/button.tsx';
import { Grid, Stack } from '#ui/layout.tsx';
import { describeDate, useMinute } from '#ui/moment.tsx';
import { Refusal } from '#ui/refusal.tsx';
import { Sentence } from '#ui/sentence.tsx';
import { suppressionsQuery, useDeleteSuppression } from './alerts.queries.ts';

/** Active suppressions with their ends; renders nothing without any. */
export function Suppressions() {
  const { data: suppressions } = useQuery(suppressionsQuery);
  const remove = useDeleteSuppression();
  const id = useId();
  if (!suppressions || suppressions.length === 0) return null;
  return (
    <Stack as="section" gap="1" className="surface-sunken pad-m above-4" aria-labelledby={id}>
      <h3 className="small bold" id={id}>
        Kept out of this list
      </h3>
      <ul>
        {suppressions.map((suppression) => (
          <SuppressionRow
            key={suppression.id}
            suppression={suppression}
            isPending={remove.isPending && remove.variables === suppression.id}
            onRemove={() => remove.mutate(suppression.id)}
          />
        ))}
      </ul>
      <Refusal error={remove.error} />
    </Stack>
  );
}

interface SuppressionRowProps {
  suppression: Suppression;
  isPending: boolean;
  onRemove: () => void;
}

function describeRunning(hidden: number) {
  if (hidden === 0) return 'Nothing hidden so far, ends {day}';
  return plural(hidden, { one: 'Hidden once, ends {day}', other: 'Hidden {count} times, ends {day}' });
}

function describeOver(hidden: number) {
  if (hidden === 0) return 'Nothing hidden so far, ended {day}';
  return plural(hidden, { one: 'Hidden once, ended {day}', other: 'Hidden {count} times, ended {day}' });
}

function SuppressionRow({ suppression, isPending, onRemove }: SuppressionRowProps) {
  const { description, until, hidden_count } = suppression;
  const now = useMinute();
  return (
    <Grid as="li" columns="tail" phone="stack" gap="3" rowGap="1" align="center" className="pad-line base">
      <div className="break">
        <p>
          <bdi>{description}</bdi>
        </p>
        <p className="sub small">
          <Sentence
            text={Date.parse(until) > now ? describeRunning(hidden_count) : describeOver(hidden_count)}
            parts={{ count: formatNumber(hidden_count), day: describeDate(until) }}
          />
        </p>
      </div>
      <Button variant="quiet" size="s" loading={isPending} onClick={onRemove}>
        Show again
      </Button>
    </Grid>
  );
}
