import { formatNumber, plural } from '@palisade/contract/intl';
import { IconArrowLeft, IconShieldCheck, IconShieldExclamation } from '@tabler/icons-react';
import { useQuery } from '@tanstack/react-query';
import { memo } from 'react';
import { Link, useLocation, useNavigate } from 'react-router';
import { useConfig } from '#api/config.ts';
import { type Connection, useConnection, useWait } from '#api/connection.ts';
import { dashboardQuery } from '#domain/dashboard/dashboard.ts';
import { protectionOf } from '#domain/status/protection.ts';
import { useUploadCounts } from '#features/antivirus/uploads.tsx';
import { BrandMark } from '#ui/brand.tsx';
import { Row } from '#ui/layout.tsx';
import { lazyPart } from '#ui/lazy-part.tsx';
import { PaletteButton } from './palette-button.tsx';
import { UserMenu } from './user-menu.tsx';
import './top-bar.css';

const WaitPill = lazyPart(async () => (await import('./wait-pill.tsx')).WaitPill);

const CONNECTIONS: Record<Exclude<Connection, 'unknown'>, string> = { online: 'Online', offline: 'Offline' };

export const TopBar = memo(function TopBar() {
  const { pathname } = useLocation();
  const navigate = useNavigate();
  const provider = useConfig()?.provider_name;
  return (
    <Row wrap={false} gap="2" className="top-bar">
      <span className="top-bar__brand">
        <BrandMark />
      </span>
      {provider && provider !== 'Palisade' && (
        <span className="top-bar__provider shrink nowrap base bold" title={provider}>
          <bdi>{provider}</bdi>
        </span>
      )}
      {pathname !== '/dashboard' && (
        <Row
          type="button"
          as="button"
          inline
          gap="1"
          className="top-bar__back bare ink rounded-s"
          onClick={() => navigate('/dashboard')}
        >
          <IconArrowLeft size={18} stroke={1.7} aria-hidden="true" />
          <span className="unseen-phone">Dashboard</span>
        </Row>
      )}
      <StatusPills />
      <PaletteButton />
      <div className="top-bar__user">
        <UserMenu />
      </div>
    </Row>
  );
});

/** State of this page only: its connection, its running uploads, and the wait that the server requests. */
function StatusPills() {
  // The chat shows the connection itself.
  const isShownBelow = useLocation().pathname === '/chat';
  const connection = useConnection();
  const { running } = useUploadCounts();
  const until = useWait();
  return (
    <Row role="status" gap="2" className="top-bar__pills grow">
      {connection !== 'unknown' && !(isShownBelow && connection === 'online') && (
        <Row
          as="span"
          inline
          gap="2"
          className="pill small muted round nowrap"
          data-tone={connection === 'online' ? 'good' : 'attention'}
        >
          {CONNECTIONS[connection]}
        </Row>
      )}
      <ProtectionPill />
      {running > 0 && (
        <Row as="span" inline gap="2" className="pill small muted round nowrap" data-tone="note">
          {plural(running, { one: 'Scanning 1 file', other: `Scanning ${formatNumber(running)} files` })}
        </Row>
      )}
      {until && <WaitPill until={until} />}
    </Row>
  );
}

/** The protection of the person in the color of their status, with the number of open steps. Links to them. */
function ProtectionPill() {
  const { data } = useQuery(dashboardQuery);
  if (!data) return null;
  const { state, sentence } = data.status;
  const { words, steps } = protectionOf(data.status);
  const Shield = state === 'danger' ? IconShieldExclamation : IconShieldCheck;
  return (
    <Row
      to="/dashboard"
      as={Link}
      inline
      gap="2"
      className="pill small muted round nowrap unlined"
      data-tone={state}
      data-kind="protection"
      title={sentence}
    >
      <Shield size={18} stroke={1.7} aria-hidden="true" />
      <span>{words}</span>
      {/* Replaces the words on a phone. */}
      {steps > 0 && (
        <b className="num" aria-hidden="true">
          {formatNumber(steps)}
        </b>
      )}
    </Row>
  );
}
