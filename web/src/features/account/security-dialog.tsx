import { AccountDialog, type AccountTab, accountTabOf } from './account-dialog.tsx';

/** The tab of an address such as `?open=security&tab=password`. */
const tabOfAddress = () => accountTabOf(new URLSearchParams(window.location.search).get('tab'));

/** Security Preferences, from the tab that is needed: the given one, or that of the address. */
export function SecurityDialog({ tab, onClose }: { tab?: AccountTab; onClose: () => void }) {
  return <AccountDialog first={tab ?? tabOfAddress() ?? 'two-factor'} onClose={onClose} />;
}
