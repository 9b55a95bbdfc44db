import { IconDots, IconLayoutDashboard } from '@tabler/icons-react';
import { memo, useEffect, useState } from 'react';
import { useLocation, useNavigate } from 'react-router';
import { useIsStaff, useMayAdministrate } from '#api/policies.ts';
import { screensOf } from '#app/screens.tsx';
import { Stack } from '#ui/layout.tsx';
import { lazyPart } from '#ui/lazy-part.tsx';
import { Sheet } from '#ui/sheet.tsx';
import { NavItemLink } from './nav-item-link.tsx';
import { NavItems, UnreadCount } from './nav-items.tsx';
import { Staff } from './sidebar.tsx';
import { SupportBlock } from './support-block.tsx';
import './dock.css';

/** The first screens in the bar, besides More. Technicians have the desk and the portal there. */
const IN_BAR = ['/dashboard', '/antivirus', '/firewall', '/remote'];
const IN_BAR_OF_TECHNICIANS = ['/dashboard', '/support', '/portal', '/antivirus'];
const MAIN = screensOf('main', false);
const SCREENS = [...MAIN, ...screensOf('support', false)];

const loadSwitch = () => import('#ui/color-scheme-switch.tsx');
/** Loaded on hover, touch or focus of More. */
const ColorSchemeSwitch = lazyPart(async () => (await loadSwitch()).ColorSchemeSwitch);

/** Loaded only for staff. */
const DockCount = lazyPart(async () => (await import('./staff-nav.tsx')).DockCount);
const MoreCount = lazyPart(async () => (await import('./staff-nav.tsx')).MoreCount);

/** Navigation on a phone: the first screens at the bottom, the rest behind More. */
export const Dock = memo(function Dock() {
  const [isOpen, setIsOpen] = useState(false);
  const { key } = useLocation();
  const navigate = useNavigate();
  const isStaff = useIsStaff();
  const isAdmin = useMayAdministrate();
  const inBar = isStaff && !isAdmin ? IN_BAR_OF_TECHNICIANS : IN_BAR;

  // biome-ignore lint/correctness/useExhaustiveDependencies: the key changes with each navigation, which closes the panel
  useEffect(() => setIsOpen(false), [key]);

  return (
    <div className="dock">
      <nav aria-label="Main" className="dock__bar">
        {inBar.map((path) => {
          const screen = SCREENS.find((one) => one.path === path);
          return (
            screen && (
              <NavItemLink
                key={path}
                screen={screen}
                className="dock__item muted unlined break centered shrink rounded-s pointer"
              >
                <screen.nav.icon size={22} stroke={1.7} aria-hidden="true" />
                {path === '/portal' ? screen.nav.label : screen.title}
                {isStaff && <DockCount path={path} />}
              </NavItemLink>
            )
          );
        })}
        <button
          type="button"
          className="dock__item muted unlined break centered shrink rounded-s pointer"
          aria-haspopup="dialog"
          aria-expanded={isOpen}
          onPointerEnter={() => void loadSwitch()}
          onFocus={() => void loadSwitch()}
          onClick={() => setIsOpen(true)}
        >
          <IconDots size={22} stroke={1.7} aria-hidden="true" />
          More
          {isStaff ? <MoreCount inBar={inBar} /> : <UnreadCount />}
        </button>
      </nav>
      <Sheet title="More" isOpen={isOpen} onClose={() => setIsOpen(false)}>
        <Stack gap="2" className="dock__more">
          <button type="button" className="sidebar__quick rounded-s unlined pointer ink" onClick={() => navigate('/dashboard')}>
            <IconLayoutDashboard size={20} stroke={1.7} aria-hidden="true" />
            <span>Main Dashboard</span>
          </button>
          <NavItems screens={[...MAIN.filter(({ path }) => !inBar.includes(path)), ...screensOf('tools', false)]} />
          <Staff />
          <ColorSchemeSwitch />
          <SupportBlock />
        </Stack>
      </Sheet>
    </div>
  );
});
