import { AccountDialog } from './account-dialog.tsx';

/** Profile Settings: the dialog of Security Preferences with another first tab. */
export function ProfileDialog({ onClose }: { onClose: () => void }) {
  return <AccountDialog first="profile" onClose={onClose} />;
}
