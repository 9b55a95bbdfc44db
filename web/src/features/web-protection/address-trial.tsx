import { IconAlertTriangle, IconCircleCheck } from '@tabler/icons-react';
import { useQuery } from '@tanstack/react-query';
import { Button } from '#ui/button.tsx';
import { Row } from '#ui/layout.tsx';
import { trialQuery } from './web-protection.queries.ts';

/** Tests whether the address of a device answers this browser. */
export function AddressTrial({ address }: { address: string }) {
  const { data, isFetching, refetch } = useQuery(trialQuery(address));
  const { isWorking = false, sentence = '' } = data ?? {};
  const Icon = isWorking ? IconCircleCheck : IconAlertTriangle;
  return (
    <Row gap="2" role="status">
      {isFetching ? (
        <span className="sub">Trying this address…</span>
      ) : (
        <>
          <Icon size={20} stroke={1.7} className={isWorking ? 'accent' : 'amber'} aria-hidden="true" />
          <span>{sentence}</span>
          <Button variant="quiet" size="s" onClick={() => void refetch()}>
            Try again
          </Button>
        </>
      )}
    </Row>
  );
}
