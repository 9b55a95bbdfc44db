import type { ReactNode } from 'react';
import { NavLink } from 'react-router';
import { useSupportLinks } from '#api/support-links.ts';
import type { NavItem } from './nav-items.ts';

interface NavItemLinkProps {
  item: NavItem;
  className: string;
  title?: string;
  children: ReactNode;
}

/** One way of the sidebar or the dock: to a screen, or to the live-chat page in a window of its own. */
export function NavItemLink({ item, className, title, children }: NavItemLinkProps) {
  const { live_chat } = useSupportLinks();
  return item.opensLiveChat ? (
    <a href={live_chat} target="_blank" rel="noopener" className={className} title={title}>
      {children}
    </a>
  ) : (
    <NavLink to={item.path} className={className} title={title}>
      {children}
    </NavLink>
  );
}
