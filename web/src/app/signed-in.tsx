import { currentUser } from '@palisade/contract/auth';
import { QueryClientProvider } from '@tanstack/react-query';
import { useEffect, useState } from 'react';
import { createBrowserRouter } from 'react-router';
import { RouterProvider } from 'react-router/dom';
import { call } from '#api/call.ts';
import { keepEventsOpen } from '#api/events.ts';
import { followEvents } from '#api/live-queries.ts';
import { createQueryClient } from '#api/query-client.ts';
import { refreshUser, useSession } from '#api/session.ts';
import { UploadsProvider } from '#features/antivirus/uploads.tsx';
import { routes } from './router.tsx';

// One for the life of the page: it starts to load the wanted screen as soon as this file is there.
const router = createBrowserRouter(routes);

/** Everything of one signed-in person; it goes when they do, and with it all that was read for them. */
export function SignedIn() {
  const [queries] = useState(createQueryClient);
  const access_token = useSession().session?.access_token;

  useEffect(() => {
    // A session that the server no longer knows has been ended by then; without an answer the stored person stays.
    call(currentUser).then(refreshUser, () => undefined);
  }, []);

  useEffect(() => followEvents(queries), [queries]);
  useEffect(() => (access_token === undefined ? undefined : keepEventsOpen(access_token)), [access_token]);

  return (
    <QueryClientProvider client={queries}>
      <UploadsProvider>
        <RouterProvider router={router} />
      </UploadsProvider>
    </QueryClientProvider>
  );
}
