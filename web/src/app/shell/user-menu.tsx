import { lazy, Suspense, useState } from 'react';
import { useSearchParams } from 'react-router';
import { useSession } from '#api/session.ts';
import { UserMenuButton } from './user-menu-button.tsx';
import './user-menu.css';

const loadItems = () => import('./user-menu-items.tsx');
const UserMenuItems = lazy(async () => ({ default: (await loadItems()).UserMenuItems }));

const SecurityDialog = lazy(async () => ({
  default: (await import('#features/account/security-dialog.tsx')).SecurityDialog,
}));

/** Security Preferences by its address, `?open=security`: where the score's reasons lead that are about the account. */
function LinkedDialog() {
  const [search, setSearch] = useSearchParams();
  if (search.get('open') !== 'security') return null;
  return (
    <Suspense>
      <SecurityDialog onClose={() => setSearch({}, { replace: true, preventScrollReset: true })} />
    </Suspense>
  );
}

/** The button in the top bar's corner. The menu behind it brings the kit's positioning engine, so it is fetched when a person reaches for it. */
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
      {isAskedFor ? (
        <Suspense fallback={button}>
          <UserMenuItems user={user} />
        </Suspense>
      ) : (
        button
      )}
      <LinkedDialog />
    </>
  );
}
