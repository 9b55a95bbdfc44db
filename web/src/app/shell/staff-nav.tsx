import { formatNumber, plural } from '@palisade/contract/intl';
import type { Overview } from '@palisade/contract/overview';
import { IconChevronDown, IconCreditCardPay } from '@tabler/icons-react';
import { useQuery } from '@tanstack/react-query';
import { type ReactNode, useEffect, useId, useState } from 'react';
import { Link, useLocation } from 'react-router';
import { useAbsence } from '#api/absence.ts';
import { useMayAdministrate } from '#api/policies.ts';
import { GROUP_TITLES, groupAt, type NavScreen, screensOf } from '#app/screens.tsx';
import { useDeskCounts } from '#domain/conversation/desk-counts.ts';
import { overviewQuery } from '#domain/overview/overview.ts';
import { NavCount } from './nav-count.tsx';
import { NavItem } from './nav-items.tsx';
import { keepOpenGroup, type OpenGroup, readOpenGroup, type StaffGroup } from './open-group.ts';

/** Number of waiting records of a screen, and its words. */
interface Waits {
  count: number;
  words: string;
}

/** Words for one and for several waiting records. */
type Words = (count: string) => { one: string; other: string };

function waitsOf(count: number, words: Words): Waits {
  return { count, words: plural(count, words(formatNumber(count))) };
}

/** Counts of the overview, by screen. */
const WAITS: Record<string, { of: keyof Overview['waiting']; words: Words }> = {
  '/admin/false-alarms': {
    of: 'false_alarms',
    words: (count) => ({ one: '1 report waits', other: `${count} reports wait` }),
  },
  '/admin/outbox': { of: 'mails', words: (count) => ({ one: '1 email waits', other: `${count} emails wait` }) },
  '/admin/setup': { of: 'jobs', words: (count) => ({ one: '1 task failed', other: `${count} tasks failed` }) },
};

function groupOf(pathname: string): StaffGroup | undefined {
  const group = groupAt(pathname);
  return group === 'support' || group === 'administration' ? group : undefined;
}

/** The two groups below the screens of everyone. At most one is unfolded, so that the sidebar fits a laptop window. */
export function StaffNavs() {
  const { pathname } = useLocation();
  const isAdmin = useMayAdministrate();
  const here = groupOf(pathname);
  const [open, setOpen] = useState<OpenGroup>(() => here ?? readOpenGroup() ?? (isAdmin ? 'administration' : 'support'));
  useEffect(() => {
    if (here) setOpen(here);
  }, [here]);

  function toggle(group: StaffGroup) {
    const next = open === group ? 'none' : group;
    setOpen(next);
    keepOpenGroup(next);
  }

  return (
    <>
      <SupportNav isOpen={open === 'support'} onToggle={() => toggle('support')} isAdmin={isAdmin} />
      {isAdmin && <AdminNav isOpen={open === 'administration'} onToggle={() => toggle('administration')} />}
    </>
  );
}

interface GroupProps {
  isOpen: boolean;
  onToggle: () => void;
}

/** Link of staff to the support desk, with the number of waiting conversations. */
function SupportNav({ isAdmin, ...group }: GroupProps & { isAdmin: boolean }) {
  const { pathname } = useLocation();
  // Administrators are present at the desk while they have it open; technicians on every screen.
  const isAtDesk = !isAdmin || pathname.startsWith('/support');
  const counts = useDeskCounts(isAtDesk);
  useAbsence(isAtDesk);
  const waits = waitsOf((counts?.mine_unread ?? 0) + (counts?.unassigned_waiting ?? 0), (count) => ({
    one: '1 conversation waits',
    other: `${count} conversations wait`,
  }));
  return (
    <FoldingNav {...group} name="support" waiting={waits.count}>
      {screensOf('support', isAdmin).map((screen) => (
        <StaffItem key={screen.path} screen={screen} waits={screen.path === '/support' ? waits : undefined} />
      ))}
    </FoldingNav>
  );
}

/** The screens of administrators, with their counts. */
function AdminNav(group: GroupProps) {
  const { data: overview } = useQuery(overviewQuery);
  const requests = overview?.waiting.plan_requests ?? 0;
  const waitsAt = (path: string): Waits | undefined => {
    const waits = WAITS[path];
    return waits && waitsOf(overview?.waiting[waits.of] ?? 0, waits.words);
  };
  const screens = screensOf('administration', true);
  const waiting = screens.reduce((sum, { path }) => sum + (waitsAt(path)?.count ?? 0), requests);
  return (
    <FoldingNav {...group} name="administration" waiting={waiting}>
      {requests > 0 && (
        <li>
          {/* A link to a tab of Subscriptions; only that screen is marked as open. */}
          <Link to="/subscription-manager?tab=manage" className="nav-item">
            <IconCreditCardPay size={20} stroke={1.7} aria-hidden="true" />
            <span className="sidebar__label">Plan requests</span>{' '}
            <NavCount
              {...waitsOf(requests, (count) => ({ one: '1 plan request waits', other: `${count} plan requests wait` }))}
            />
          </Link>
        </li>
      )}
      {screens.map((screen) => (
        <StaffItem key={screen.path} screen={screen} waits={waitsAt(screen.path)} />
      ))}
    </FoldingNav>
  );
}

function StaffItem({ screen, waits }: { screen: NavScreen; waits: Waits | undefined }) {
  return (
    <li>
      <NavItem screen={screen}>{waits && <NavCount {...waits} />}</NavItem>
    </li>
  );
}

/** A foldable group. When folded, its heading shows the sum of the counts. */
function FoldingNav({
  name,
  isOpen,
  onToggle,
  waiting,
  children,
}: GroupProps & { name: StaffGroup; waiting: number; children: ReactNode }) {
  const id = useId();
  return (
    <nav className="nav-group" aria-labelledby={id}>
      <h2 className="nav-group__title">
        <button
          type="button"
          className="nav-group__toggle"
          aria-expanded={isOpen}
          aria-controls={`${id}-ways`}
          onClick={onToggle}
        >
          <span id={id}>{GROUP_TITLES[name]}</span>{' '}
          {!isOpen && <NavCount {...waitsOf(waiting, (count) => ({ one: '1 waits', other: `${count} wait` }))} />}
          <IconChevronDown size={16} stroke={1.7} aria-hidden="true" />
        </button>
      </h2>
      <ul id={`${id}-ways`} className="nav-items" hidden={!isOpen}>
        {children}
      </ul>
    </nav>
  );
}
