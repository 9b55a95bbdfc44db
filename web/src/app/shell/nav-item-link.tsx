import type { ReactNode } from 'react';
import { NavLink } from 'react-router';
import { useSupportLinks } from '#api/support-links.ts';
import type { NavScreen } from '#app/screens.tsx';

interface NavItemLinkProps {
  screen: NavScreen;
  className: string;
  title?: string;
  children: ReactNode;
}

/** One way of the sidebar or the dock: to a screen, or to the live-chat page in a window of its own. */
export function NavItemLink({ screen: { path, nav }, className, title, children }: NavItemLinkProps) {
  const { live_chat } = useSupportLinks();
  return nav.opensLiveChat ? (
    <a href={live_chat} target="_blank" rel="noopener" className={className} title={title}>
      {children}
    </a>
  ) : (
    // The desk is not its saved replies: a screen with others below its path is open alone.
    <NavLink to={path} end={path === '/support'} className={className} title={title}>
      {children}
    </NavLink>
  );
}
