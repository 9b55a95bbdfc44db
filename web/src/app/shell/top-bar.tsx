import { formatNumber, plural } from '@palisade/contract/intl';
import { IconArrowLeft, IconShieldCheck } from '@tabler/icons-react';
import { memo } from 'react';
import { useLocation, useNavigate } from 'react-router';
import { useConfig } from '#api/config.ts';
import { type Connection, useConnection, useWait } from '#api/connection.ts';
import { useUploadCounts } from '#features/antivirus/uploads.tsx';
import { BrandMark } from '#ui/brand.tsx';
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
    <div className="top-bar">
      <span className="top-bar__brand">
        <BrandMark />
      </span>
      {provider && provider !== 'Palisade' && (
        <span className="top-bar__provider" title={provider}>
          <bdi>{provider}</bdi>
        </span>
      )}
      {pathname !== '/dashboard' && (
        <button type="button" className="top-bar__back" onClick={() => navigate('/dashboard')}>
          <IconArrowLeft size={18} stroke={1.7} aria-hidden="true" />
          <span>Dashboard</span>
        </button>
      )}
      <StatusPills />
      <PaletteButton />
      <div className="top-bar__user">
        <UserMenu />
      </div>
    </div>
  );
});

/** State of this page only: its connection, its running uploads, and the requested wait. */
function StatusPills() {
  // The chat shows the connection itself.
  const isShownBelow = useLocation().pathname === '/chat';
  const connection = useConnection();
  const { running } = useUploadCounts();
  const until = useWait();
  return (
    <div role="status" className="top-bar__pills">
      {connection !== 'unknown' && !(isShownBelow && connection === 'online') && (
        <span className="pill" data-tone={connection === 'online' ? 'good' : 'warn'}>
          {CONNECTIONS[connection]}
        </span>
      )}
      {/* Prescribed by the specification; it never changes. */}
      <span className="pill" data-tone="good" data-kind="protection" title="Protection active">
        <IconShieldCheck size={18} stroke={1.7} aria-hidden="true" />
        <span>Protection active</span>
      </span>
      {running > 0 && (
        <span className="pill" data-tone="busy">
          {plural(running, { one: 'Scanning 1 file', other: `Scanning ${formatNumber(running)} files` })}
        </span>
      )}
      {until && <WaitPill until={until} />}
    </div>
  );
}
