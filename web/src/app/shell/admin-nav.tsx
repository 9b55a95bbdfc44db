import type { Overview } from '@palisade/contract/overview';
import {
  IconBook,
  IconBuildingStore,
  IconCreditCardPay,
  IconDeviceDesktop,
  IconFlag,
  IconInbox,
  IconListDetails,
  IconUsers,
  type TablerIcon,
} from '@tabler/icons-react';
import { useQuery } from '@tanstack/react-query';
import { useId } from 'react';
import { Link, NavLink } from 'react-router';
import { overviewQuery } from '#domain/overview/overview.ts';
import { NavCount } from './nav-count.tsx';
import './admin-nav.css';

interface AdminItem {
  path: string;
  label: string;
  icon: TablerIcon;
  /** Waiting records behind it, and their words. */
  waits?: { of: keyof Overview['waiting']; one: string; many: string };
}

const ITEMS: readonly AdminItem[] = [
  { path: '/admin/users', label: 'Users', icon: IconUsers },
  {
    path: '/admin/false-alarms',
    label: 'False alarms',
    icon: IconFlag,
    waits: { of: 'false_alarms', one: 'report waits', many: 'reports wait' },
  },
  { path: '/admin/outbox', label: 'Outbox', icon: IconInbox, waits: { of: 'mails', one: 'mail waits', many: 'mails wait' } },
  { path: '/admin/audit', label: 'Audit log', icon: IconListDetails },
  { path: '/admin/help', label: 'Edit help pages', icon: IconBook },
  { path: '/admin/remote-sessions', label: 'Remote sessions', icon: IconDeviceDesktop },
  {
    path: '/admin/setup',
    label: 'Set-up',
    icon: IconBuildingStore,
    waits: { of: 'jobs', one: 'task was given up', many: 'tasks were given up' },
  },
];

const PLAN_REQUESTS = { one: 'plan request waits', many: 'plan requests wait' } as const;

/** The screens of administrators, with what waits for them. */
export function AdminNav() {
  const id = useId();
  const { data: overview } = useQuery(overviewQuery);
  const requests = overview?.waiting.plan_requests ?? 0;
  return (
    <nav className="admin-nav" aria-labelledby={id}>
      <h2 id={id} className="admin-nav__title">
        Administration
      </h2>
      <ul className="nav-items">
        {requests > 0 && (
          <li>
            {/* A way to a part of Subscriptions, which is marked as the open screen. */}
            <Link to="/subscription-manager?tab=manage" className="nav-item">
              <IconCreditCardPay size={20} stroke={1.7} aria-hidden="true" />
              <span className="sidebar__label">Plan requests</span> <NavCount {...PLAN_REQUESTS} count={requests} />
            </Link>
          </li>
        )}
        {ITEMS.map(({ path, label, icon: Icon, waits }) => (
          <li key={path}>
            <NavLink to={path} className="nav-item">
              <Icon size={20} stroke={1.7} aria-hidden="true" />
              <span className="sidebar__label">{label}</span>{' '}
              {waits && <NavCount one={waits.one} many={waits.many} count={overview?.waiting[waits.of] ?? 0} />}
            </NavLink>
          </li>
        ))}
      </ul>
    </nav>
  );
}
