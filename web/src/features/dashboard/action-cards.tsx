import { IconMessage2, IconScan, IconWall, IconZoomQuestion } from '@tabler/icons-react';
import type { ReactNode } from 'react';
import { Link } from 'react-router';
import { useSupportLinks } from '#api/support-links.ts';
import { Grid } from '#ui/layout.tsx';

const CARD = {
  columns: 'lead',
  gap: '3',
  align: 'center',
  className: 'card hover-line unlined ink pointer start',
} as const;

export function ActionCards() {
  const { live_chat } = useSupportLinks();
  function openSupport() {
    window.open(live_chat, '_blank', 'noopener');
    window.alert('The live chat opens in a new window.');
  }
  return (
    <Grid columns="2" gap="4">
      <ActionLink to="/antivirus" icon={<IconScan size={24} stroke={1.7} aria-hidden="true" />} title="Scan files">
        Drop anything, up to 2 GB.
      </ActionLink>
      <ActionLink to="/firewall" icon={<IconWall size={24} stroke={1.7} aria-hidden="true" />} title="Configure firewall">
        Decide who may reach you.
      </ActionLink>
      <Grid type="button" as="button" {...CARD} onClick={openSupport}>
        <IconMessage2 className="accent" size={24} stroke={1.7} aria-hidden="true" />
        <Words title="AI support">Opens the live chat.</Words>
      </Grid>
      <ActionLink to="/scam-check" icon={<IconZoomQuestion size={24} stroke={1.7} aria-hidden="true" />} title="Is this real?">
        Check a message, link or email.
      </ActionLink>
    </Grid>
  );
}

function ActionLink({ to, icon, title, children }: { to: string; icon: ReactNode; title: string; children: ReactNode }) {
  return (
    <Grid to={to} as={Link} {...CARD}>
      <span className="accent">{icon}</span>
      <Words title={title}>{children}</Words>
    </Grid>
  );
}

function Words({ title, children }: { title: string; children: ReactNode }) {
  return (
    <span>
      <b className="base bold block">{title}</b> <span className="small muted unseen-phone">{children}</span>
    </span>
  );
}
