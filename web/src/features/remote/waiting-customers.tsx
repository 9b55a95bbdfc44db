import { formatNumber, plural } from '@palisade/contract/intl';
import { IconHeadset } from '@tabler/icons-react';
import { useQuery } from '@tanstack/react-query';
import { deskCountsQuery } from '#domain/conversation/desk-counts.ts';
import { ScreenLink } from '#ui/button-link.tsx';
import { Lead } from '#ui/lead.tsx';

export function describeWaiting(count: number): string {
  if (count === 0) return 'Enter the code that your customer gives you.';
  return plural(count, {
    one: '1 customer waits. Ask for their code.',
    other: `${formatNumber(count)} customers wait. Ask for their codes.`,
  });
}

/** The customers who wait with a code, first on the page of a technician. The shell keeps the count fresh. */
export function WaitingCustomers() {
  const count = useQuery({ ...deskCountsQuery, enabled: false }).data?.remote_waiting ?? 0;
  return (
    <Lead
      tone={count === 0 ? 'unknown' : 'attention'}
      icon={IconHeadset}
      title={
        count === 0
          ? 'No customer waits for remote help.'
          : plural(count, {
              one: '1 customer waits for remote help.',
              other: `${formatNumber(count)} customers wait for remote help.`,
            })
      }
      sentence="They give you their code. You enter it in the portal."
      action={<ScreenLink to="/portal">Enter their code</ScreenLink>}
    />
  );
}
