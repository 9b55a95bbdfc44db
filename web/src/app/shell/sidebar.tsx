import { IconLayoutDashboard } from '@tabler/icons-react';
import { memo } from 'react';
import { useNavigate } from 'react-router';
import { useIsStaff } from '#api/policies.ts';
import { screensOf } from '#app/screens.tsx';
import { Brand } from '#ui/brand.tsx';
import { Stack } from '#ui/layout.tsx';
import { lazyPart } from '#ui/lazy-part.tsx';
import { NavItems, ToolsNav } from './nav-items.tsx';
import { SupportBlock } from './support-block.tsx';
import './sidebar.css';

/** Loaded only for staff. */
const StaffNavs = lazyPart(async () => (await import('./staff-nav.tsx')).StaffNavs);

export const Sidebar = memo(function Sidebar() {
  const navigate = useNavigate();
  // Known before the staff groups are loaded, so that they do not move the groups above.
  const isStaff = useIsStaff();
  return (
    <div className="sidebar" data-staff={isStaff}>
      <div className="sidebar__brand fixed">
        {/* The top bar names the provider. */}
        <Brand />
      </div>
      <Stack gap="1" className="sidebar__ways grow">
        <button
          type="button"
          className="sidebar__quick rounded-s unlined pointer ink"
          title="Main Dashboard"
          onClick={() => navigate('/dashboard')}
        >
          <IconLayoutDashboard size={20} stroke={1.7} aria-hidden="true" />
          <span>Main Dashboard</span>
        </button>
        <nav aria-label="Main">
          <NavItems screens={screensOf('main', false)} />
        </nav>
        <ToolsNav />
        <Staff />
      </Stack>
      <SupportBlock />
    </div>
  );
});

/** The groups of staff and of administrators; empty for customers. */
export function Staff() {
  return useIsStaff() && <StaffNavs />;
}
