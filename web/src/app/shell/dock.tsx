import { IconDots, IconLayoutDashboard } from '@tabler/icons-react';
import { memo, useEffect, useState } from 'react';
import { useLocation, useNavigate } from 'react-router';
import { screensOf } from '#app/screens.tsx';
import { ColorSchemeSwitch } from '#ui/color-scheme-switch.tsx';
import { Sheet } from '#ui/sheet.tsx';
import { NavItemLink } from './nav-item-link.tsx';
import { NavItems, UnreadCount } from './nav-items.tsx';
import { Staff } from './sidebar.tsx';
import { SupportBlock } from './support-block.tsx';
import './dock.css';

/** Number of screens in the bar, besides More. */
const DOCK_SIZE = 4;
const SCREENS = screensOf('main', false);

/** Navigation on a phone: the first screens at the bottom, the rest behind More. */
export const Dock = memo(function Dock() {
  const [isOpen, setIsOpen] = useState(false);
  const { key } = useLocation();
  const navigate = useNavigate();

  // biome-ignore lint/correctness/useExhaustiveDependencies: the key changes with each navigation, which closes the panel
  useEffect(() => setIsOpen(false), [key]);

  return (
    <div className="dock">
      <nav aria-label="Main" className="dock__bar">
        {SCREENS.slice(0, DOCK_SIZE).map((screen) => (
          <NavItemLink key={screen.path} screen={screen} className="dock__item">
            <screen.nav.icon size={22} stroke={1.7} aria-hidden="true" />
            {screen.title}
          </NavItemLink>
        ))}
        <button
          type="button"
          className="dock__item"
          aria-haspopup="dialog"
          aria-expanded={isOpen}
          onClick={() => setIsOpen(true)}
        >
          <IconDots size={22} stroke={1.7} aria-hidden="true" />
          More
          <UnreadCount />
        </button>
      </nav>
      <Sheet title="More" isOpen={isOpen} onClose={() => setIsOpen(false)}>
        <div className="dock__more">
          <button type="button" className="sidebar__quick" onClick={() => navigate('/dashboard')}>
            <IconLayoutDashboard size={20} stroke={1.7} aria-hidden="true" />
            <span>Main Dashboard</span>
          </button>
          <NavItems screens={[...SCREENS.slice(DOCK_SIZE), ...screensOf('more', false)]} />
          <Staff />
          <ColorSchemeSwitch />
          <SupportBlock />
        </div>
      </Sheet>
    </div>
  );
});
