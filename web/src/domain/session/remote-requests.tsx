import { formatNumber, plural } from '@palisade/contract/intl';
import { useQuery } from '@tanstack/react-query';
import { deskCountsQuery, useRemoteWaiting } from '#domain/conversation/desk-counts.ts';
import { ScreenLink } from '#ui/button-link.tsx';
import { Card } from '#ui/card.tsx';
import { Face } from '#ui/face.tsx';
import { Grid, Stack } from '#ui/layout.tsx';
import { TimeOfDay } from '#ui/moment.tsx';
import { Sentence } from '#ui/sentence.tsx';

interface RemoteRequestsProps {
  /** Maximum number of customers to show; by default all in the counts. */
  most?: number;
  /** False on the screen where codes are entered, because the link would lead to the same screen. */
  isElsewhere?: boolean;
  /** True if nothing above is more urgent. */
  isFirst?: boolean;
}

/** The customers who wait for remote help, longest wait first, with a link to the screen for codes. */
export function RemoteRequestList({ most, isElsewhere = true, isFirst = false }: RemoteRequestsProps) {
  const customers = useQuery({ ...deskCountsQuery, enabled: false }).data?.remote_customers ?? [];
  const waiting = useRemoteWaiting();
  const shown = customers.slice(0, most);
  return (
    <>
      <Stack as="ul" lines aria-label="Customers who wait for remote help">
        {shown.map(({ customer, since }, place) => (
          <Grid as="li" key={customer} columns="both" gap="3" align="center" className="pad-line">
            <Face name={customer} />
            <span className="base break">
              <Sentence
                text="{customer} has waited for remote help since {time}."
                parts={{ customer: <bdi className="bold">{customer}</bdi>, time: <TimeOfDay iso={since} /> }}
              />
            </span>
            {isElsewhere ? (
              <ScreenLink
                to="/portal"
                size="s"
                variant={isFirst && place === 0 ? 'primary' : 'quiet'}
                aria-label={`Enter the code of ${customer}`}
              >
                Enter code
              </ScreenLink>
            ) : (
              <ScreenLink to="/support" size="s" variant="quiet" aria-label={`Ask ${customer} for the code`}>
                Ask for the code
              </ScreenLink>
            )}
          </Grid>
        ))}
      </Stack>
      {waiting > shown.length && (
        <p className="small muted">
          {plural(waiting - shown.length, {
            one: '1 more customer waits.',
            other: `${formatNumber(waiting - shown.length)} more customers wait.`,
          })}
        </p>
      )}
    </>
  );
}

/** The waiting customers with a heading; renders nothing without any. */
export function RemoteRequests(list: RemoteRequestsProps) {
  const waiting = useRemoteWaiting();
  if (waiting === 0) return null;
  return (
    <Card
      level={list.isElsewhere === false ? undefined : 'raised'}
      title={plural(waiting, {
        one: '1 customer waits for remote help',
        other: `${formatNumber(waiting)} customers wait for remote help`,
      })}
    >
      {list.isElsewhere !== false && <p className="sub">Ask for their session code.</p>}
      <RemoteRequestList {...list} />
    </Card>
  );
}
