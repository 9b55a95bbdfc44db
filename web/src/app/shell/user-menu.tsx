import { lazy, Suspense, useState } from 'react';
import { useSession } from '#api/session.ts';
import { UserMenuButton } from './user-menu-button.tsx';
import './user-menu.css';

const loadItems = () => import('./user-menu-items.tsx');
const UserMenuItems = lazy(async () => ({ default: (await loadItems()).UserMenuItems }));

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
  return isAskedFor ? (
    <Suspense fallback={button}>
      <UserMenuItems user={user} />
    </Suspense>
  ) : (
    button
  );
}
