import { AccountDialog, type AccountTab, accountTabOf } from './account-dialog.tsx';

/** The tab of an address such as `?open=security&tab=password`. */
const tabOfAddress = () => accountTabOf(new URLSearchParams(window.location.search).get('tab'));

/** Security Preferences at the given tab, or at the tab of the address. */
export function SecurityDialog({ tab, onClose }: { tab?: AccountTab; onClose: () => void }) {
  return <AccountDialog first={tab ?? tabOfAddress() ?? 'two-factor'} onClose={onClose} />;
}
