import { type Alert, LIVE_FEED } from '@palisade/contract/anti-hacking';
import { Grid, Row } from '#ui/layout.tsx';
import { Moment, useMinute } from '#ui/moment.tsx';
import { LoadingRows } from '#ui/states.tsx';
import { describeAlert, OutcomeBadges, SeverityBadge, ThreatIcon } from './threat.tsx';

/** Shortens a description to 50 characters including the ellipsis, without splitting a character. */
export function cutDescription(description: string): string {
  const characters = [...description];
  return characters.length > LIVE_FEED.description_length
    ? `${characters.slice(0, LIVE_FEED.description_length - 1).join('')}…`
    : description;
}

/** The 5 latest threats, announced as they arrive. */
export function LiveFeed({ threats, hasFailed }: { threats: readonly Alert[] | undefined; hasFailed: boolean }) {
  const now = useMinute();
  if (!threats) return hasFailed ? null : <LoadingRows label="Loading the live feed" />;
  if (threats.length === 0) return <p className="pad-row muted base">Nothing yet. New threats appear here.</p>;
  return (
    <ul className="live-feed above-2" aria-label="Live feed" aria-live="polite">
      {threats.slice(0, LIVE_FEED.shown).map((alert) => (
        <Grid
          key={alert.id}
          as="li"
          columns="both-2"
          phone="under"
          gap="3"
          rowGap="1"
          align="center"
          className="pad-row line-between"
        >
          <ThreatIcon alert={alert} />
          <div>
            <b className="medium base">{describeAlert(alert)}</b>
            <span className="block small muted break" title={alert.description}>
              <bdi>{cutDescription(alert.description)}</bdi>
            </span>
          </div>
          <Row gap="2" rowGap="1" justify="end">
            <SeverityBadge severity={alert.severity} />
            <OutcomeBadges alert={alert} />
          </Row>
          <span className="faint small num">
            <Moment iso={alert.created_at} now={now} />
          </span>
        </Grid>
      ))}
    </ul>
  );
}
