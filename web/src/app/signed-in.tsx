import { currentUser } from '@palisade/contract/auth';
import { QueryClientProvider } from '@tanstack/react-query';
import { useEffect, useState } from 'react';
import { createBrowserRouter } from 'react-router';
import { RouterProvider } from 'react-router/dom';
import { call } from '#api/call.ts';
import { keepEventsOpen } from '#api/events.ts';
import { createQueryClient } from '#api/query-client.ts';
import { refreshUser, type Session, useSession } from '#api/session.ts';
import { useIsStartOver } from '#api/start.ts';
import { followEvents } from '#domain/live-queries.ts';
import { UploadsProvider } from '#features/antivirus/uploads.tsx';
import { signOut } from '#features/auth/auth.ts';
import { watchHistory } from '#ui/closed-by-back.ts';
import { lazyPart } from '#ui/lazy-part.tsx';
import { routes } from './router.tsx';

const RequiredFactorPage = lazyPart(async () => (await import('#features/account/required-factor-page.tsx')).RequiredFactorPage);

watchHistory();
// One router for the life of the page: it starts to load the requested screen as soon as this file is loaded.
const router = createBrowserRouter(routes);
/** Settles when the files of the requested screen are loaded. */
export const firstScreen = new Promise<void>((resolve) => {
  const settle = ({ initialized }: typeof router.state) => {
    if (!initialized) return;
    stop();
    resolve();
  };
  const stop = router.subscribe(settle);
  settle(router.state);
});

/** All screens of one signed-in person. Signing out unmounts them and drops their cached data. */
export function SignedIn() {
  const { session } = useSession();
  // The end of a hold remounts the screens, because replies refused during the hold are invalid. The path stays, so the person lands on the requested screen.
  return session && <Screens key={String(session.two_factor_setup_required)} session={session} />;
}

function Screens({ session }: { session: Session }) {
  const [queries] = useState(createQueryClient);
  const { access_token, two_factor_setup_required: isHeld } = session;

  const isStartOver = useIsStartOver();

  useEffect(() => {
    if (!isStartOver) return;
    // An unknown session has already been ended by the call; without a reply the stored person stays.
    call(currentUser).then(refreshUser, () => undefined);
  }, [isStartOver]);

  useEffect(() => followEvents(queries), [queries]);
  useEffect(() => (isHeld ? undefined : keepEventsOpen(access_token)), [access_token, isHeld]);

  return (
    <QueryClientProvider client={queries}>
      {isHeld ? (
        <RequiredFactorPage session={session} onSignOut={() => void signOut()} />
      ) : (
        <UploadsProvider>
          <RouterProvider router={router} />
        </UploadsProvider>
      )}
    </QueryClientProvider>
  );
}
