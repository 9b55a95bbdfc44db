import { useState } from 'react';
import { useSearchParams } from 'react-router';
import { useSession } from '#api/session.ts';
import { lazyPart } from '#ui/lazy-part.tsx';
import { UserMenuButton } from './user-menu-button.tsx';
import './user-menu.css';

const loadItems = () => import('./user-menu-items.tsx');
const UserMenuItems = lazyPart(async () => (await loadItems()).UserMenuItems);

const SecurityDialog = lazyPart(async () => (await import('#features/account/security-dialog.tsx')).SecurityDialog);

/** Opens Security Preferences for `?open=security`, the link of score reasons about the account. */
function LinkedDialog() {
  const [search, setSearch] = useSearchParams();
  if (search.get('open') !== 'security') return null;
  return <SecurityDialog onClose={() => setSearch({}, { replace: true, preventScrollReset: true })} />;
}

/** The button at the end of the top bar. The menu needs Mantine's positioning code, so it is loaded on hover or focus. */
export function UserMenu() {
  const user = useSession().session?.user_info;
  const [isAskedFor, setIsAskedFor] = useState(false);
  if (!user) return null;
  const button = (
    <UserMenuButton
      username={user.username}
      onPointerEnter={() => void loadItems()}
      onFocus={() => void loadItems()}
      onClick={() => setIsAskedFor(true)}
    />
  );
  return (
    <>
      {isAskedFor ? <UserMenuItems meanwhile={button} user={user} /> : button}
      <LinkedDialog />
    </>
  );
}
