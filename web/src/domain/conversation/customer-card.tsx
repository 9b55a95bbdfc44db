import type { CustomerCard as Card } from '@palisade/contract/desk';
import { formatDecimals, formatNumber, formatPercent } from '@palisade/contract/intl';
import { shownEmail } from '@palisade/contract/shown-email';
import type { ReactNode } from 'react';
import { DeviceRows, RemoteSessionRows } from '#domain/person/card-rows.tsx';
import { Badge } from '#ui/badge.tsx';
import { Face } from '#ui/face.tsx';
import { describeDate } from '#ui/moment.tsx';
import './customer-card.css';

/** The customer, for staff: names and counts, without content of files. */
export function CustomerCard({ card }: { card: Card }) {
  const { clean, infected, pending } = card.scans;
  return (
    <div className="customer">
      <div className="customer__who">
        <Face name={card.username} size="l" />
        <h2>
          <bdi>{card.username}</bdi>
        </h2>
        <p className="sub">
          <bdi>{shownEmail(card.email)}</bdi>
        </p>
      </div>
      <p className="customer__plan">
        <Badge tone={card.is_premium ? 'safe' : 'plain'}>{card.plan_name ?? 'No plan'}</Badge>
        <span className="sub">{`Customer since ${describeDate(card.since)}`}</span>
      </p>
      <dl className="customer__figures num">
        <Figure name="Score" value={formatPercent(card.security_score / 100)} />
        <Figure name="Open alerts" value={formatNumber(card.open_alerts)} />
        <Figure
          name="Files checked"
          value={formatNumber(clean + infected + pending)}
          line={infected > 0 ? `${formatNumber(infected)} infected` : undefined}
        />
        <Figure
          name="Closed before"
          value={formatNumber(card.conversations_closed)}
          line={card.ratings.average === null ? undefined : `rated ${formatDecimals(card.ratings.average, 1)} of 5`}
        />
      </dl>
      <Part title="Devices" nothing="No devices connected." rows={card.devices.length}>
        <DeviceRows devices={card.devices} />
      </Part>
      <Part title="Remote sessions" nothing="No remote sessions yet." rows={card.remote_sessions.length}>
        <RemoteSessionRows sessions={card.remote_sessions} />
      </Part>
      <p className="sub">Opening this card is logged.</p>
    </div>
  );
}

function Figure({ name, value, line }: { name: string; value: string; line?: string | undefined }) {
  return (
    <div className="customer__figure">
      <dt>{name}</dt>
      <dd>{value}</dd>
      {line !== undefined && <dd className="customer__line">{line}</dd>}
    </div>
  );
}

function Part({ title, nothing, rows, children }: { title: string; nothing: string; rows: number; children: ReactNode }) {
  return (
    <section className="customer__part">
      <h3>{title}</h3>
      {rows === 0 ? <p className="sub">{nothing}</p> : <ul className="customer__list">{children}</ul>}
    </section>
  );
}
