import { lazy, Suspense, useState } from 'react';
import { useSearchParams } from 'react-router';
import { useSession } from '#api/session.ts';
import { UserMenuButton } from './user-menu-button.tsx';
import './user-menu.css';

const loadItems = () => import('./user-menu-items.tsx');
const UserMenuItems = lazy(async () => ({ default: (await loadItems()).UserMenuItems }));

const LinkedAccount = lazy(async () => ({ default: (await import('#features/account/linked-account.tsx')).LinkedAccount }));

/** The account by its address, `?open=security&tab=password`: where the score's reasons lead that are about the account. */
function LinkedDialog() {
  const [search, setSearch] = useSearchParams();
  const open = search.get('open');
  if (open !== 'security' && open !== 'profile') return null;
  const close = () => setSearch({}, { replace: true, preventScrollReset: true });
  return (
    <Suspense>
      <LinkedAccount open={open} tab={search.get('tab')} onClose={close} />
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
