import { IconHeadset, IconScreenShare } from '@tabler/icons-react';
import { useId } from 'react';
import { NavLink, useLocation } from 'react-router';
import { useAbsence } from '#api/absence.ts';
import { useDeskCounts } from '#domain/conversation/desk-counts.ts';
import { NavCount } from './nav-count.tsx';
import './admin-nav.css';

/** The way of the staff to the support desk, with how many conversations wait there. */
export function DeskNav({ mayAdministrate }: { mayAdministrate: boolean }) {
  const id = useId();
  const { pathname } = useLocation();
  // Administrators are at the desk when they open it; for everybody else of the staff it is their work wherever they are.
  const isAtDesk = !mayAdministrate || pathname.startsWith('/support');
  const counts = useDeskCounts(isAtDesk);
  useAbsence(isAtDesk);
  return (
    <nav className="admin-nav" aria-labelledby={id}>
      <h2 id={id} className="admin-nav__title">
        Support
      </h2>
      <ul className="nav-items">
        <li>
          <NavLink to="/support" className="nav-item">
            <IconHeadset size={20} stroke={1.7} aria-hidden="true" />
            <span className="sidebar__label">Support Desk</span>{' '}
            <NavCount
              count={(counts?.mine_unread ?? 0) + (counts?.unassigned_waiting ?? 0)}
              one="conversation waits"
              many="conversations wait"
            />
          </NavLink>
        </li>
        <li>
          <NavLink to="/portal" className="nav-item">
            <IconScreenShare size={20} stroke={1.7} aria-hidden="true" />
            <span className="sidebar__label">Portal</span>
          </NavLink>
        </li>
      </ul>
    </nav>
  );
}
