import { formatNumber, plural } from '@palisade/contract/intl';
import { type ReactNode, useId } from 'react';
import { GROUP_TITLES, type NavScreen, screensOf } from '#app/screens.tsx';
import { useUnread } from '#domain/conversation/chat.ts';
import { Stack } from '#ui/layout.tsx';
import { NavCount } from './nav-count.tsx';
import { NavItemLink } from './nav-item-link.tsx';

/** Links to screens. `NavItemLink` marks the open one with `aria-current="page"`. */
export function NavItems({ screens }: { screens: readonly NavScreen[] }) {
  return (
    <Stack as="ul" gap="0" className="nav-items">
      {screens.map((screen) => (
        <li key={screen.path}>
          <NavItem screen={screen} />
        </li>
      ))}
    </Stack>
  );
}

/** An entry of the sidebar. `children` shows the count of waiting records. */
export function NavItem({ screen, children }: { screen: NavScreen; children?: ReactNode }) {
  const { title, nav } = screen;
  const label = nav.label ?? title;
  return (
    <NavItemLink screen={screen} className="nav-item rounded-s unlined muted" title={label}>
      <nav.icon size={20} stroke={1.7} aria-hidden="true" />
      <span>{label}</span>
      {/* The space separates the parts of the name for screen readers. */}
      {nav.note && ' '}
      {nav.note && <small className="nav-item__note push centered tiny muted rounded-s">{nav.note}</small>}
      {nav.opensLiveChat && <UnreadCount />}
      {children && ' '}
      {children}
    </NavItemLink>
  );
}

/** Screens in addition to the seven of the specification, for everyone. */
export function ToolsNav() {
  const id = useId();
  return (
    <nav className="nav-group line-above" aria-labelledby={id}>
      <h2 id={id} className="nav-group__title faint">
        {GROUP_TITLES.tools}
      </h2>
      <NavItems screens={screensOf('tools', false)} />
    </nav>
  );
}

export const unreadWords = (count: number) =>
  plural(count, { one: '1 unread message', other: `${formatNumber(count)} unread messages` });

/** Number of unread messages from support. */
export function UnreadCount() {
  const count = useUnread();
  return <NavCount count={count} words={unreadWords(count)} />;
}
