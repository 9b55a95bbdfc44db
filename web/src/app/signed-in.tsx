import { currentUser } from '@palisade/contract/auth';
import { may } from '@palisade/contract/may';
import { readOverview } from '@palisade/contract/overview';
import { QueryClientProvider } from '@tanstack/react-query';
import { useEffect, useState } from 'react';
import { createBrowserRouter } from 'react-router';
import { RouterProvider } from 'react-router/dom';
import { call } from '#api/call.ts';
import { askEarly } from '#api/early.ts';
import { keepEventsOpen } from '#api/events.ts';
import { createQueryClient } from '#api/query-client.ts';
import { currentSession, refreshUser, type Session, useSession } from '#api/session.ts';
import { isAtStart } from '#api/start.ts';
import { followEvents } from '#domain/live-queries.ts';
import { UploadsProvider } from '#features/antivirus/uploads.tsx';
import { signOut } from '#features/auth/auth.ts';
import { lazyPart } from '#ui/lazy-part.tsx';
import { routes } from './router.tsx';

const RequiredFactorPage = lazyPart(async () => (await import('#features/account/required-factor-page.tsx')).RequiredFactorPage);

const session = currentSession();
if (session && isAtStart() && may.administrate(session.user_info)) askEarly(session, [readOverview.path]);

// One for the life of the page: it starts to load the wanted screen as soon as this file is there.
const router = createBrowserRouter(routes);

/** Everything of one signed-in person; it goes when they do, and with it all that was read for them. */
export function SignedIn() {
  const { session } = useSession();
  // Begun anew when a hold ends: what was refused until then is no answer. The path stays as it is, so a person lands where they wanted to go.
  return session && <Screens key={String(session.two_factor_setup_required)} session={session} />;
}

function Screens({ session }: { session: Session }) {
  const [queries] = useState(createQueryClient);
  const { access_token, two_factor_setup_required: isHeld } = session;

  useEffect(() => {
    // A session that the server no longer knows has been ended by then; without an answer the stored person stays.
    call(currentUser).then(refreshUser, () => undefined);
  }, []);

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
