import { formatNumber } from '@palisade/contract/intl';
import type { WebDevice } from '@palisade/contract/web-protection';
import { useInfiniteQuery } from '@tanstack/react-query';
import { sentenceOf } from '#api/call.ts';
import { leftOf, rowsOf } from '#api/pages.ts';
import { Button } from '#ui/button.tsx';
import { Grid, Row, Stack } from '#ui/layout.tsx';
import { describeMoment, useMinute } from '#ui/moment.tsx';
import { Refusal } from '#ui/refusal.tsx';
import { ShowMore } from '#ui/show-more.tsx';
import { shownNamesQuery, useShowNames } from './web-protection.queries.ts';

/** All names that a device queried in the hour that the person chose. */
export function ShownNames({ device: { id }, until }: { device: WebDevice; until: string }) {
  const now = useMinute();
  const { data, error, hasNextPage, isFetchingNextPage, fetchNextPage } = useInfiniteQuery(shownNamesQuery(id));
  const show = useShowNames();
  const isOn = Date.parse(until) > now;
  const rows = rowsOf(data);
  return (
    <Stack gap="3" className="surface-sunken pad-m above-3">
      <Grid columns="tail" phone="stack" gap="3" rowGap="2" align="center">
        <Stack gap="0" className="shrink">
          <b>{isOn ? `All names are shown until ${describeMoment(until, now)}` : 'All names of one hour'}</b>
          <span className="sub">Only you see them. Each is deleted after a day.</span>
        </Stack>
        <Button variant="quiet" size="s" loading={show.isPending} onClick={() => show.mutate({ id, shown: false })}>
          {isOn ? 'Stop and delete' : 'Delete names'}
        </Button>
      </Grid>
      {rows?.length === 0 && <p className="sub">No name yet. Open a website on the device.</p>}
      {rows !== undefined && rows.length > 0 && (
        <Stack as="ul" lines aria-label="Names">
          {rows.map(({ id: row, name, count }) => (
            <Row as="li" key={row} justify="between" gap="3" wrap={false} className="pad-row">
              <bdi className="shrink break">{name}</bdi>
              <span className="sub num">{`${formatNumber(count)}×`}</span>
            </Row>
          ))}
        </Stack>
      )}
      {hasNextPage && <ShowMore left={leftOf(data)} loading={isFetchingNextPage} onMore={() => void fetchNextPage()} />}
      <Refusal error={error}>{error && sentenceOf(error)}</Refusal>
      <Refusal error={show.error} />
    </Stack>
  );
}
