import type { Card, SharedKind } from '@palisade/contract/chat-record';
import { shownEmail } from '@palisade/contract/shown-email';
import {
  IconAlertTriangle,
  IconBook,
  IconDeviceDesktop,
  IconDevices,
  IconMail,
  IconScan,
  IconWall,
  type TablerIcon,
} from '@tabler/icons-react';
import type { ReactNode } from 'react';
import { Link } from 'react-router';
import { Address } from '#ui/address.tsx';
import { Grid, Stack } from '#ui/layout.tsx';
import { Moment, useMinute } from '#ui/moment.tsx';
import { Sentence } from '#ui/sentence.tsx';
import './message-card.css';

const THINGS: Record<SharedKind, { label: string; icon: TablerIcon; screen: string }> = {
  alert: { label: 'Alert', icon: IconAlertTriangle, screen: '/anti-hacking' },
  scan: { label: 'Scanned file', icon: IconScan, screen: '/antivirus' },
  rule: { label: 'Firewall rule', icon: IconWall, screen: '/firewall' },
  device: { label: 'Device', icon: IconDevices, screen: '/dashboard' },
  scam_check: { label: 'Scam check', icon: IconScan, screen: '/scam-check' },
};

interface MessageCardProps {
  card: Card;
  /** Staff cannot open the customer's screens, only the shared record. */
  isStaff?: boolean;
  openShared?: ReactNode;
  /** Actions on a kept email. */
  keptMail?: ReactNode;
}

/** The card of a message, below its text. */
export function MessageCard({ card, isStaff = false, openShared, keptMail }: MessageCardProps) {
  const now = useMinute();
  switch (card.kind) {
    case 'shared': {
      const { label, icon, screen } = THINGS[card.thing];
      return (
        <CardFrame icon={icon} label={isStaff ? `${label}, shown to you` : `${label}, shown to support`} title={card.title}>
          {openShared ?? <Link to={card.thing === 'scam_check' ? `${screen}?check=${card.subject_id}` : screen}>Open it</Link>}
        </CardFrame>
      );
    }
    case 'remote_session':
      return (
        <CardFrame
          icon={IconDeviceDesktop}
          label="Remote session"
          title={<code className="mono large bold">{card.session_code}</code>}
        >
          <span className="tiny muted">
            <Sentence
              text={Date.parse(card.expires_at) > now ? 'For one session until {when}.' : 'Expired: one session until {when}.'}
              parts={{ when: <Moment iso={card.expires_at} now={now} /> }}
            />{' '}
            {isStaff ? 'Join with it when the customer is ready.' : 'Only the technician of this chat should use it.'}
          </span>
          {isStaff ? (
            <Link to="/portal" state={{ session_code: card.session_code }}>
              Go to the portal with this code
            </Link>
          ) : (
            <Link to="/remote">Go to Remote Access</Link>
          )}
        </CardFrame>
      );
    case 'mail':
      return (
        <CardFrame
          icon={IconMail}
          label={card.reason === 'lost_letters' ? 'Email with unreadable characters' : 'Sender not verified'}
          title={card.from === '' ? 'Unclear author' : <Address text={shownEmail(card.from)} />}
        >
          {keptMail}
        </CardFrame>
      );
    case 'article':
      return (
        <CardFrame icon={IconBook} label="Help page" title={card.title}>
          <Link to={`/help/${card.slug}`}>Read it</Link>
        </CardFrame>
      );
  }
}

function CardFrame({
  icon: Icon,
  label,
  title,
  children,
}: {
  icon: TablerIcon;
  label: string;
  title: ReactNode;
  children: ReactNode;
}) {
  return (
    <Grid columns="lead" gap="3" className="message-card surface-plain pad-m base">
      <Icon size={20} stroke={1.7} className="accent" aria-hidden="true" />
      <Stack gap="0" align="start" className="break">
        <span className="tiny muted">{label}</span>
        <b>
          <bdi>{title}</bdi>
        </b>
        {children}
      </Stack>
    </Grid>
  );
}
