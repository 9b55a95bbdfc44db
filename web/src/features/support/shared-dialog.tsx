import { useQuery } from '@tanstack/react-query';
import { DetailDialog, Fact, Facts } from '#ui/detail-dialog.tsx';
import { sharedQuery } from './desk.queries.ts';

/** A record that a customer has shared, in its present state. */
export function SharedDialog({ message_id, onClose }: { message_id: string; onClose: () => void }) {
  const { data, error, refetch } = useQuery(sharedQuery(message_id));
  return (
    <DetailDialog
      title={data?.title ?? 'What the customer shows'}
      sentences={{
        loading: 'Loading the shared thing',
        failed: 'We couldn’t load the shared thing',
        missing: 'We couldn’t find this shared thing',
      }}
      shown={data}
      error={error}
      onRetry={refetch}
      onClose={onClose}
    >
      {({ facts }) => (
        <>
          <p className="sub">The customer has shown you this one thing. Opening it is in the audit log.</p>
          <Facts>
            {facts.map(({ name, value }) => (
              <Fact key={name} name={name}>
                <bdi>{value}</bdi>
              </Fact>
            ))}
          </Facts>
        </>
      )}
    </DetailDialog>
  );
}
