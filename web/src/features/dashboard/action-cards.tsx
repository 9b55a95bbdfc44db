import { IconMessage2, IconScan, IconWall, IconZoomQuestion } from '@tabler/icons-react';
import type { ReactNode } from 'react';
import { Link } from 'react-router';
import { useSupportLinks } from '#api/support-links.ts';

export function ActionCards() {
  const { live_chat } = useSupportLinks();
  function openSupport() {
    window.open(live_chat, '_blank', 'noopener');
    window.alert('The live chat opens in a new window.');
  }
  return (
    <div className="action-cards">
      <ActionLink to="/antivirus" icon={<IconScan size={24} stroke={1.7} aria-hidden="true" />} title="Scan files">
        Drop anything, up to 2 GB.
      </ActionLink>
      <ActionLink to="/firewall" icon={<IconWall size={24} stroke={1.7} aria-hidden="true" />} title="Configure firewall">
        Decide who may reach you.
      </ActionLink>
      <button type="button" className="card action-card" onClick={openSupport}>
        <IconMessage2 size={24} stroke={1.7} aria-hidden="true" />
        <b>AI support</b> <span>Opens the live chat.</span>
      </button>
      <ActionLink to="/scam-check" icon={<IconZoomQuestion size={24} stroke={1.7} aria-hidden="true" />} title="Is this real?">
        Check a message, link or email.
      </ActionLink>
    </div>
  );
}

function ActionLink({ to, icon, title, children }: { to: string; icon: ReactNode; title: string; children: ReactNode }) {
  return (
    <Link to={to} className="card action-card">
      {icon}
      <b>{title}</b> <span>{children}</span>
    </Link>
  );
}
