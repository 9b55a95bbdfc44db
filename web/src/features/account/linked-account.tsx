import { AccountDialog, accountTabOf } from './account-dialog.tsx';

interface LinkedAccountProps {
  open: 'profile' | 'security';
  /** The tab that the address names, if any. */
  tab: string | null;
  onClose: () => void;
}

/** The account dialog as an address asks for it; an unknown tab opens the first one of its part. */
export function LinkedAccount({ open, tab, onClose }: LinkedAccountProps) {
  const first = accountTabOf(tab) ?? (open === 'profile' ? 'profile' : 'two-factor');
  return <AccountDialog key={first} first={first} onClose={onClose} />;
}
