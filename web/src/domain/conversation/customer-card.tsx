import type { CustomerCard as Card } from '@palisade/contract/desk';
import { formatDecimals, formatNumber, formatPercent } from '@palisade/contract/intl';
import { shownEmail } from '@palisade/contract/shown-email';
import type { ReactNode } from 'react';
import { DeviceRows, describeInfected, RemoteSessionRows } from '#domain/person/card-rows.tsx';
import { StatusBadge } from '#domain/status/state-badge.tsx';
import { Address } from '#ui/address.tsx';
import { Badge } from '#ui/badge.tsx';
import { Face } from '#ui/face.tsx';
import { FileName } from '#ui/file-name.tsx';
import { Grid, Row, Stack } from '#ui/layout.tsx';
import { describeDate } from '#ui/moment.tsx';
import './customer-card.css';

/** The customer, for staff: names and counts, without content of files. The children are actions. */
export function CustomerCard({ card, children }: { card: Card; children?: ReactNode }) {
  const { clean, infected, pending, test_files } = card.scans;
  return (
    <Stack gap="4" className="top pad-l">
      <Row gap="3" wrap={false}>
        <Face name={card.username} size="l" />
        <h2 className="break">
          <bdi>{card.username}</bdi>
        </h2>
      </Row>
      <Stack gap="1" align="start" className="small muted">
        <Row gap="2">
          <StatusBadge state={card.status.state} />
          <Badge tone={card.is_premium ? 'safe' : 'plain'}>{card.plan_name ?? 'No plan'}</Badge>
        </Row>
        <p>
          <Address text={shownEmail(card.email)} />
        </p>
        <p>{`Customer since ${describeDate(card.since)}`}</p>
        {children}
      </Stack>
      {card.infected_files.length > 0 && (
        <Part title="Infected files, not deleted yet" nothing="" rows={card.infected_files.length}>
          {card.infected_files.map(({ filename, threat }) => (
            <li key={filename}>
              <FileName name={filename} />
              {threat !== null && <Address text={threat} />}
            </li>
          ))}
        </Part>
      )}
      <Grid as="dl" columns="2" gap="2" className="num">
        <Figure
          name="Score"
          value={card.status.is_scored ? formatPercent(card.security_score / 100) : '–'}
          line={card.status.is_scored ? undefined : 'no score yet'}
        />
        <Figure name="Open alerts" value={formatNumber(card.open_alerts)} />
        <Figure
          name="Files checked"
          value={formatNumber(clean + infected + pending + test_files)}
          line={describeInfected(card.scans)}
        />
        <Figure
          name="Closed before"
          value={formatNumber(card.conversations_closed)}
          line={card.ratings.average === null ? undefined : `rated ${formatDecimals(card.ratings.average, 1)} of 5`}
        />
      </Grid>
      <Part title="Devices" nothing="No devices yet." rows={card.devices.length}>
        <DeviceRows devices={card.devices} />
      </Part>
      <Part title="Remote sessions" nothing="No remote sessions yet." rows={card.remote_sessions.length}>
        <RemoteSessionRows sessions={card.remote_sessions} />
      </Part>
      <p className="tiny muted">Opening this card is logged.</p>
    </Stack>
  );
}

function Figure({ name, value, line }: { name: string; value: string; line?: string | undefined }) {
  return (
    <Stack className="surface-sunken pad-s top">
      <dt className="tiny muted">{name}</dt>
      <dd className="large bold">{value}</dd>
      {line !== undefined && <dd className="tiny muted">{line}</dd>}
    </Stack>
  );
}

function Part({ title, nothing, rows, children }: { title: string; nothing: string; rows: number; children: ReactNode }) {
  return (
    <Stack as="section" gap="2" className="small">
      <h3 className="small bold muted">{title}</h3>
      {rows === 0 ? (
        <p className="muted">{nothing}</p>
      ) : (
        <Stack as="ul" gap="2" className="customer__list">
          {children}
        </Stack>
      )}
    </Stack>
  );
}
