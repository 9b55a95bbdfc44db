import { type Alert, LIVE_FEED } from '@palisade/contract/anti-hacking';
import { Moment, useMinute } from '#ui/moment.tsx';
import { LoadingRows } from '#ui/states.tsx';
import { describeType, OutcomeBadges, SeverityBadge, ThreatIcon } from './threat.tsx';

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
  if (threats.length === 0) return <p className="live-feed__empty">Nothing yet. New threats appear here.</p>;
  return (
    <ul className="live-feed" aria-label="Live feed" aria-live="polite">
      {threats.slice(0, LIVE_FEED.shown).map((alert) => (
        <li key={alert.id} className="live-feed__row">
          <ThreatIcon alert={alert} />
          <div>
            <b>{describeType(alert.threat_type)}</b>
            <span title={alert.description}>
              <bdi>{cutDescription(alert.description)}</bdi>
            </span>
          </div>
          <div className="live-feed__badges">
            <SeverityBadge severity={alert.severity} />
            <OutcomeBadges alert={alert} />
          </div>
          <span className="live-feed__when">
            <Moment iso={alert.created_at} now={now} />
          </span>
        </li>
      ))}
    </ul>
  );
}
