import type { Suppression } from '@palisade/contract/alerts';
import { formatNumber, plural } from '@palisade/contract/intl';
import { useQuery } from '@tanstack/react-query';
import { useId } from 'react';
import { Button } from '#ui/button.tsx';
import { describeDate, useMinute } from '#ui/moment.tsx';
import { Refusal } from '#ui/refusal.tsx';
import { suppressionsQuery, useDeleteSuppression } from './alerts.queries.ts';

/** Suppressions, each with its end. Empty without one. */
export function Suppressions() {
  const { data: suppressions } = useQuery(suppressionsQuery);
  const remove = useDeleteSuppression();
  const id = useId();
  if (!suppressions || suppressions.length === 0) return null;
  return (
    <section className="suppressions" aria-labelledby={id}>
      <h3 id={id}>Kept out of this list</h3>
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
    </section>
  );
}

interface SuppressionRowProps {
  suppression: Suppression;
  isPending: boolean;
  onRemove: () => void;
}

function SuppressionRow({ suppression, isPending, onRemove }: SuppressionRowProps) {
  const { description, until, hidden_count } = suppression;
  const now = useMinute();
  return (
    <li>
      <div>
        <p>
          <bdi>{description}</bdi>
        </p>
        <p className="sub">
          {hidden_count === 0
            ? 'Nothing hidden so far'
            : plural(hidden_count, { one: 'Hidden once', other: `Hidden ${formatNumber(hidden_count)} times` })}
          , {Date.parse(until) > now ? 'ends' : 'ended'} {describeDate(until)}
        </p>
      </div>
      <Button variant="quiet" size="s" loading={isPending} onClick={onRemove}>
        Show again
      </Button>
    </li>
  );
}
