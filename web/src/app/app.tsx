import { lazy, Suspense } from 'react';
import { useSession } from '#api/session.ts';
import { AuthPage } from '#features/auth/auth-page.tsx';
import { CrashBoundary } from './crash-boundary.tsx';
import { Splash } from './splash.tsx';

export async function loadSignedIn() {
  const { SignedIn } = await import('./signed-in.tsx');
  return { default: SignedIn };
}

const SignedIn = lazy(loadSignedIn);
const InvitationPage = lazy(async () => ({ default: (await import('#features/auth/invitation-page.tsx')).InvitationPage }));

/** Signed out there is the sign-in screen on any path; signing in leaves the path alone, so a person lands where they wanted to go. */
export function App() {
  const { session, notice } = useSession();
  return (
    <CrashBoundary>
      {session ? (
        <Suspense fallback={<Splash />}>
          <SignedIn key={session.user_info.id} />
        </Suspense>
      ) : window.location.pathname === '/invitation' ? (
        <Suspense fallback={<Splash />}>
          <InvitationPage />
        </Suspense>
      ) : (
        <AuthPage notice={notice} prepare={loadSignedIn} />
      )}
    </CrashBoundary>
  );
}
