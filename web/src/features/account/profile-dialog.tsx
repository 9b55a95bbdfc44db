import { AccountDialog } from './account-dialog.tsx';

/** Profile Settings: the same dialog as Security Preferences, from its first tab. */
export function ProfileDialog({ onClose }: { onClose: () => void }) {
  return <AccountDialog first="profile" onClose={onClose} />;
}
