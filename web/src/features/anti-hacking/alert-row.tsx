import type { Alert } from '@palisade/contract/anti-hacking';
import { IconChevronRight } from '@tabler/icons-react';
import { memo } from 'react';
import { Link } from 'react-router';
import { ShowToSupport } from '#domain/conversation/show-to-support.tsx';
import { Grid, Row, Stack } from '#ui/layout.tsx';
import { Moment } from '#ui/moment.tsx';
import { Sentence } from '#ui/sentence.tsx';
import { AlertAction } from './alert-action.tsx';
import { describeAlert, OutcomeBadges, SeverityBadge, StatusBadge, ThreatIcon, TimesBadge } from './threat.tsx';
import './alert-row.css';

/** An alert in a list, with its next step. */
export const AlertRow = memo(function AlertRow({ alert, now }: { alert: Alert; now: number }) {
  return (
    <Grid as="li" gap="3" align="center" className="alert-row" data-status={alert.status}>
      <ThreatIcon alert={alert} />
      <Stack gap="1" className="alert-row__what shrink">
        <Row gap="2" rowGap="1" className="alert-row__head">
          <Link to={`?alert=${alert.id}`} preventScrollReset className="alert-row__open ink medium base unlined hover-underline">
            {describeAlert(alert)}
          </Link>
          <TimesBadge count={alert.count} />
          <SeverityBadge severity={alert.severity} />
          <OutcomeBadges alert={alert} />
          <StatusBadge alert={alert} />
        </Row>
        <p className="base muted break">
          <bdi>{alert.description}</bdi>
        </p>
        <Row as="p" gap="4" rowGap="0" align="stretch" className="num faint small">
          <span>
            <Sentence text="Detected {when}" parts={{ when: <Moment iso={alert.created_at} now={now} /> }} />
          </span>
          {alert.count > 1 && (
            <span>
              <Sentence text="last {when}" parts={{ when: <Moment iso={alert.last_seen} now={now} /> }} />
            </span>
          )}
          {alert.ip_address !== null && (
            <span>
              <Sentence text="Source IP {address}" parts={{ address: <code className="mono tiny">{alert.ip_address}</code> }} />
            </span>
          )}
        </Row>
      </Stack>
      <div className="alert-row__action off-empty">
        <AlertAction alert={alert} />
      </div>
      <span className="alert-row__show">
        <ShowToSupport kind="alert" id={alert.id} name={alert.description} isSmall />
      </span>
      <IconChevronRight className="faint off-phone" size={18} stroke={1.7} aria-hidden="true" />
    </Grid>
  );
});
