import { may } from '@palisade/contract/may';
import { IconLayoutDashboard } from '@tabler/icons-react';
import { lazy, Suspense } from 'react';
import { useNavigate } from 'react-router';
import { opensDesk } from '#api/policies.ts';
import { useSession } from '#api/session.ts';
import { useUnread } from '#domain/conversation/chat.ts';
import { Brand } from '#ui/brand.tsx';
import { NavCount } from './nav-count.tsx';
import { NavItemLink } from './nav-item-link.tsx';
import { NAV_ITEMS, type NavItem } from './nav-items.ts';
import { SupportBlock } from './support-block.tsx';
import './sidebar.css';

/** Loaded by staff alone. */
const DeskNav = lazy(async () => ({ default: (await import('./desk-nav.tsx')).DeskNav }));
/** Loaded by administrators alone. */
const AdminNav = lazy(async () => ({ default: (await import('./admin-nav.tsx')).AdminNav }));

export function Sidebar() {
  const navigate = useNavigate();
  return (
    <div className="sidebar">
      <div className="sidebar__brand">
        {/* The top bar names the provider. */}
        <Brand />
      </div>
      <div className="sidebar__ways">
        <button type="button" className="sidebar__quick" title="Main Dashboard" onClick={() => navigate('/dashboard')}>
          <IconLayoutDashboard size={20} stroke={1.7} aria-hidden="true" />
          <span className="sidebar__label">Main Dashboard</span>
        </button>
        <nav aria-label="Main">
          <NavItems items={NAV_ITEMS} />
        </nav>
        <Administration />
      </div>
      <SupportBlock />
    </div>
  );
}

/** The groups of staff and of administrators; nothing for everybody else. */
export function Administration() {
  const user = useSession().session?.user_info;
  if (!user) return null;
  return (
    <Suspense>
      {opensDesk(user) && <DeskNav mayAdministrate={may.administrate(user)} />}
      {may.administrate(user) && <AdminNav />}
    </Suspense>
  );
}

/** Links to screens. `NavItemLink` marks the one that is open with `aria-current="page"`. */
export function NavItems({ items }: { items: readonly NavItem[] }) {
  return (
    <ul className="nav-items">
      {items.map((item) => (
        <li key={item.path}>
          <NavItemLink item={item} className="nav-item" title={item.label}>
            <item.icon size={20} stroke={1.7} aria-hidden="true" />
            <span className="sidebar__label">{item.label}</span>
            {/* The space keeps the parts of the name apart for who hears it. */}
            {item.note && ' '}
            {item.note && <small className="nav-item__note">{item.note}</small>}
            {item.opensLiveChat && <UnreadCount />}
          </NavItemLink>
        </li>
      ))}
    </ul>
  );
}

/** Number of unread messages of support. */
export function UnreadCount() {
  return <NavCount count={useUnread()} one="unread message" many="unread messages" />;
}
