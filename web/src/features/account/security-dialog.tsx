import { AccountDialog, type AccountTab } from './account-dialog.tsx';

/** Security Preferences, from the tab that is needed. */
export function SecurityDialog({ tab = 'two-factor', onClose }: { tab?: AccountTab; onClose: () => void }) {
  return <AccountDialog first={tab} onClose={onClose} />;
}
