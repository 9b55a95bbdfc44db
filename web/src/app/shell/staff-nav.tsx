import { IconChevronDown, IconCreditCardPay } from '@tabler/icons-react';
import { type ReactNode, useId, useState } from 'react';
import { Link, useLocation } from 'react-router';
import { useAbsence } from '#api/absence.ts';
import { useMayAdministrate } from '#api/policies.ts';
import { GROUP_TITLES, groupAt, STAFF_GROUPS, type StaffGroup, screensOf } from '#app/screens.tsx';
import { useUnread } from '#domain/conversation/chat.ts';
import { useDeskCounts } from '#domain/conversation/desk-counts.ts';
import { Row, Stack } from '#ui/layout.tsx';
import { NavCount } from './nav-count.tsx';
import { NavItem, unreadWords } from './nav-items.tsx';
import { keepOpenGroup, type OpenGroup, readOpenGroup } from './open-group.ts';
import { PLAN_REQUESTS, useWaits, type Waits, waitsOf } from './waits.ts';

type WaitsAt = (path: string) => Waits | undefined;

/** Addresses of a group's links. */
function pathsOf(group: StaffGroup, isAdmin: boolean): string[] {
  return [...(group === 'people' ? [PLAN_REQUESTS] : []), ...screensOf(group, isAdmin).map(({ path }) => path)];
}

function sumOf(paths: readonly string[], waitsAt: WaitsAt): number {
  return paths.reduce((sum, path) => sum + (waitsAt(path)?.count ?? 0), 0);
}

/** The groups below the screens of everyone. The group of the screen stays unfolded, and one other group can be, so that the sidebar fits a laptop window. */
export function StaffNavs() {
  const { pathname } = useLocation();
  const isAdmin = useMayAdministrate();
  // Administrators are present at the desk while they have it open; technicians on every screen.
  const isAtDesk = !isAdmin || pathname.startsWith('/support');
  useDeskCounts(isAtDesk);
  useAbsence(isAtDesk);
  const waitsAt = useWaits();
  const here = groupAt(pathname);
  const [open, setOpen] = useState<OpenGroup>(() => readOpenGroup() ?? 'people');
  const groups = isAdmin ? STAFF_GROUPS : (['support'] as const);

  function toggle(group: StaffGroup) {
    const next = open === group ? 'none' : group;
    setOpen(next);
    keepOpenGroup(next);
  }

  return groups.map((group) => (
    <StaffNav
      key={group}
      name={group}
      isOpen={open === group}
      onToggle={group === here || groups.length === 1 ? undefined : () => toggle(group)}
      waiting={sumOf(pathsOf(group, isAdmin), waitsAt)}
    >
      {group === 'people' && <PlanRequests waits={waitsAt(PLAN_REQUESTS)} />}
      {screensOf(group, isAdmin).map((screen) => {
        const waits = waitsAt(screen.path);
        return (
          <li key={screen.path}>
            <NavItem screen={screen}>{waits && <NavCount {...waits} />}</NavItem>
          </li>
        );
      })}
    </StaffNav>
  ));
}

/** A link to a tab of Subscriptions while requests wait; only that screen is marked as open. */
function PlanRequests({ waits }: { waits: Waits | undefined }) {
  if (!waits?.count) return null;
  return (
    <li>
      <Link to={PLAN_REQUESTS} className="nav-item rounded-s unlined muted" title="Plan requests">
        <IconCreditCardPay size={20} stroke={1.7} aria-hidden="true" />
        <span>Plan requests</span> <NavCount {...waits} />
      </Link>
    </li>
  );
}

interface StaffNavProps {
  name: StaffGroup;
  isOpen: boolean;
  /** Undefined for a group that stays unfolded. */
  onToggle: (() => void) | undefined;
  waiting: number;
  children: ReactNode;
}

/** A group of the sidebar. When folded, its heading shows the sum of the counts. */
function StaffNav({ name, isOpen, onToggle, waiting, children }: StaffNavProps) {
  const id = useId();
  return (
    <nav className="nav-group line-above" aria-labelledby={id}>
      <h2 className="nav-group__title faint">
        {onToggle ? (
          <Row
            type="button"
            as="button"
            wrap={false}
            gap="2"
            className="nav-group__toggle faint full rounded-s pointer"
            aria-expanded={isOpen}
            aria-controls={`${id}-ways`}
            onClick={onToggle}
          >
            <span id={id}>{GROUP_TITLES[name]}</span>{' '}
            {!isOpen && <NavCount {...waitsOf(waiting, (count) => ({ one: '1 waits', other: `${count} wait` }))} />}
            <IconChevronDown size={16} stroke={1.7} aria-hidden="true" />
          </Row>
        ) : (
          <span id={id}>{GROUP_TITLES[name]}</span>
        )}
      </h2>
      <Stack id={`${id}-ways`} as="ul" gap="0" className="nav-items" hidden={!isOpen && onToggle !== undefined}>
        {children}
      </Stack>
    </nav>
  );
}

/** Number of waiting records of a screen in the dock. */
export function DockCount({ path }: { path: string }) {
  const waits = useWaits()(path);
  return waits && <NavCount {...waits} />;
}

/** The count at More in the dock: the waiting records of the screens behind it, and unread messages. */
export function MoreCount({ inBar }: { inBar: readonly string[] }) {
  const isAdmin = useMayAdministrate();
  const unread = useUnread();
  const groups = isAdmin ? STAFF_GROUPS : (['support'] as const);
  const paths = groups.flatMap((group) => pathsOf(group, isAdmin)).filter((path) => !inBar.includes(path));
  const waiting = sumOf(paths, useWaits());
  if (waiting === 0) return <NavCount count={unread} words={unreadWords(unread)} />;
  return <NavCount {...waitsOf(waiting + unread, (count) => ({ one: '1 waits', other: `${count} wait` }))} />;
}
