import type { ReactNode } from 'react';
import { Link, useLocation } from 'react-router';
import { useSupportLinks } from '#api/support-links.ts';
import type { NavScreen } from '#app/screens.tsx';

interface NavItemLinkProps {
  screen: NavScreen;
  className: string;
  title?: string;
  children: ReactNode;
}

/** A link of the sidebar or dock: to a screen, or to the live-chat page in a new window. */
export function NavItemLink({ screen: { path, nav }, className, title, children }: NavItemLinkProps) {
  const { live_chat } = useSupportLinks();
  const { pathname } = useLocation();
  // The desk link is not active on the screens below its path.
  const isOpen = pathname === path || (path !== '/support' && pathname.startsWith(`${path}/`));
  const look = { className, title, 'aria-current': isOpen ? ('page' as const) : undefined };
  return nav.opensLiveChat ? (
    <a href={live_chat} target="_blank" rel="noopener" {...look}>
      {children}
    </a>
  ) : (
    <Link to={path} {...look}>
      {children}
    </Link>
  );
}
