import type { WebProtection, WebRefusal } from '@palisade/contract/web-protection';
import { IconHome, IconShieldCheck } from '@tabler/icons-react';
import { useInfiniteQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { leftOf, rowsOf } from '#api/pages.ts';
import { RefusedWebsite } from '#domain/web-device/refused-website.tsx';
import { useAddName } from '#domain/web-device/web-devices.ts';
import { whyOf } from '#domain/web-device/web-words.ts';
import { Button } from '#ui/button.tsx';
import { ScreenLink } from '#ui/button-link.tsx';
import { Grid, Row, Stack } from '#ui/layout.tsx';
import { ListCard } from '#ui/list-card.tsx';
import { Refusal } from '#ui/refusal.tsx';
import { ShowMore } from '#ui/show-more.tsx';
import { EmptyState } from '#ui/states.tsx';
import { refusalsQuery, useRemoveName } from './web-protection.queries.ts';

function RefusedRow({ refused, web }: { refused: WebRefusal; web: WebProtection }) {
  const [isWhyShown, setIsWhyShown] = useState(false);
  const allow = useAddName();
  const remove = useRemoveName();
  const { name, category, device_id } = refused;
  const own = web.names.find((one) => one.name === name && one.verdict === 'allow');
  const device = web.devices.find(({ id }) => id === device_id)?.name;
  return (
    <Stack as="li" gap="1" className="pad-row">
      <Grid columns="tail" phone="stack" gap="3" rowGap="2" align="center">
        <RefusedWebsite refused={refused} device={device} services={web.services} />
        <Row gap="2">
          <Button
            variant="text"
            size="s"
            aria-label={`Why was ${name} refused?`}
            aria-expanded={isWhyShown}
            onClick={() => setIsWhyShown(!isWhyShown)}
          >
            Why?
          </Button>
          {category !== 'dangerous' &&
            (own === undefined ? (
              <Button
                variant="quiet"
                size="s"
                aria-label={`Allow ${name}`}
                loading={allow.isPending}
                onClick={() => allow.mutate({ name, verdict: 'allow' })}
              >
                Allow
              </Button>
            ) : (
              <Button
                variant="quiet"
                size="s"
                aria-label={`Block ${name} again`}
                loading={remove.isPending}
                onClick={() => remove.mutate(own.id)}
              >
                Block again
              </Button>
            ))}
        </Row>
      </Grid>
      {isWhyShown && <p className="sub">{whyOf(refused, web.services)}</p>}
      <Refusal error={allow.error ?? remove.error} />
    </Stack>
  );
}

/** Websites that were refused in the last 7 days. */
export function RefusedCard({ web }: { web: WebProtection }) {
  const query = useInfiniteQuery(refusalsQuery);
  const { data, error, refetch, hasNextPage, isFetchingNextPage, fetchNextPage } = query;
  // The websites of profiles are never listed here, although their devices count.
  const isOfHousehold = web.devices.some(({ refused }) => refused.length > 0);
  const more = hasNextPage && <ShowMore left={leftOf(data)} loading={isFetchingNextPage} onMore={() => void fetchNextPage()} />;
  return (
    <ListCard
      title="Refused in the last 7 days"
      of="refused websites"
      list={{ rows: rowsOf(data), error, refetch, more }}
      empty={
        isOfHousehold ? (
          <EmptyState
            isSmall
            icon={IconHome}
            title="Refused only on devices of your home"
            sentence="Household lists these websites for each person."
            action={
              <ScreenLink to="/household" variant="quiet">
                <span className="nowrap">Open Household</span>
              </ScreenLink>
            }
          />
        ) : (
          <EmptyState
            isSmall
            icon={IconShieldCheck}
            title="Nothing was refused"
            sentence="Refused websites appear here, with the reason."
          />
        )
      }
    >
      {(rows) => (
        <Stack as="ul" lines>
          {rows.map((refused) => (
            <RefusedRow key={refused.id} refused={refused} web={web} />
          ))}
        </Stack>
      )}
    </ListCard>
  );
}
