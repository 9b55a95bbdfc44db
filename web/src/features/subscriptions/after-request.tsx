import { describeSpan } from '@palisade/contract/intl';
import { useQuery } from '@tanstack/react-query';
import { useIsMailed } from '#api/config.ts';
import { Card } from '#ui/card.tsx';
import { Stack } from '#ui/layout.tsx';
import { answerTimeQuery } from './subscriptions.queries.ts';

/** Explains what happens after a request, with the measured time until an answer. */
export function AfterRequest() {
  const { data } = useQuery(answerTimeQuery);
  const isMailed = useIsMailed();
  const median = data?.median_s;
  return (
    <Card title="What happens after a request" level="sunken">
      <Stack as="ol" gap="2" className="decimal base below-3">
        <li>
          An administrator answers it.{' '}
          {data &&
            (median == null
              ? 'We can’t say yet how long that takes.'
              : `The median wait of the last ${data.answered} requests was ${describeSpan(median)}.`)}
        </li>
        <li>{isMailed ? 'We email you the answer. It’s on this page, too.' : 'The answer appears on this page.'}</li>
        <li>The plan starts when it’s assigned. If you have the same plan, you keep it longer.</li>
      </Stack>
      <p className="sub">You don’t pay on this page. Ask your provider how to pay.</p>
    </Card>
  );
}
