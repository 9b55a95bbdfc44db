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
  if (threats.length === 0) return <p className="live-feed__empty muted base">Nothing yet. New threats appear here.</p>;
  return (
    <ul className="live-feed above-2" aria-label="Live feed" aria-live="polite">
      {threats.slice(0, LIVE_FEED.shown).map((alert) => (
        <Grid key={alert.id} as="li" gap="3" rowGap="1" align="center" className="live-feed__row pad-row line-between">
          <ThreatIcon alert={alert} />
          <div>
            <b>{describeAlert(alert)}</b>
            <span title={alert.description}>
              <bdi>{cutDescription(alert.description)}</bdi>
            </span>
          </div>
          <Row gap="2" rowGap="1" className="live-feed__badges">
            <SeverityBadge severity={alert.severity} />
            <OutcomeBadges alert={alert} />
          </Row>
          <span className="live-feed__when faint small num">
            <Moment iso={alert.created_at} now={now} />
          </span>
        </Grid>
      ))}
    </ul>
  );
}
