import { IconMessage2, IconScan, IconWall, IconZoomQuestion } from '@tabler/icons-react';
import type { ReactNode } from 'react';
import { Link } from 'react-router';
import { useSupportLinks } from '#api/support-links.ts';
import { Grid, Stack } from '#ui/layout.tsx';

export function ActionCards() {
  const { live_chat } = useSupportLinks();
  function openSupport() {
    window.open(live_chat, '_blank', 'noopener');
    window.alert('The live chat opens in a new window.');
  }
  return (
    <Grid columns="fit-s" phone="stack" gap="4" className="action-cards">
      <ActionLink to="/antivirus" icon={<IconScan size={24} stroke={1.7} aria-hidden="true" />} title="Scan files">
        Drop anything, up to 2 GB.
      </ActionLink>
      <ActionLink to="/firewall" icon={<IconWall size={24} stroke={1.7} aria-hidden="true" />} title="Configure firewall">
        Decide who may reach you.
      </ActionLink>
      <Stack type="button" as="button" gap="1" className="card action-card unlined ink pointer" onClick={openSupport}>
        <IconMessage2 size={24} stroke={1.7} aria-hidden="true" />
        <b>AI support</b> <span>Opens the live chat.</span>
      </Stack>
      <ActionLink to="/scam-check" icon={<IconZoomQuestion size={24} stroke={1.7} aria-hidden="true" />} title="Is this real?">
        Check a message, link or email.
      </ActionLink>
    </Grid>
  );
}

function ActionLink({ to, icon, title, children }: { to: string; icon: ReactNode; title: string; children: ReactNode }) {
  return (
    <Stack to={to} as={Link} gap="1" className="card action-card unlined ink pointer">
      {icon}
      <b>{title}</b> <span>{children}</span>
    </Stack>
  );
}
