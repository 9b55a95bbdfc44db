import { useSession } from '#api/session.ts';
import { AuthPage } from '#features/auth/auth-page.tsx';
import { lazyPart } from '#ui/lazy-part.tsx';
import { CrashBoundary } from './crash-boundary.tsx';
import { Splash } from './splash.tsx';

const SignedIn = lazyPart(async () => {
  const { SignedIn: Part, firstScreen } = await import('./signed-in.tsx');
  await firstScreen;
  return Part;
});
/** Fetches the files of a signed-in person. */
export const loadSignedIn = SignedIn.prepare;
const InvitationPage = lazyPart(async () => (await import('#features/auth/invitation-page.tsx')).InvitationPage);
const AskPage = lazyPart(async () => (await import('#features/household/ask-page.tsx')).AskPage);

/** The page of a person of a household, signed in or not. */
export const isAskPage = () => window.location.pathname.startsWith('/ask/');

/** Signed out, every path shows the sign-in screen. Signing in keeps the path, so the person lands on the requested screen. */
export function App() {
  const { session, notice } = useSession();
  return (
    <CrashBoundary>
      {isAskPage() ? (
        <AskPage meanwhile={<Splash />} />
      ) : session ? (
        <SignedIn meanwhile={<Splash />} key={session.user_info.id} />
      ) : window.location.pathname === '/invitation' ? (
        <InvitationPage meanwhile={<Splash />} />
      ) : (
        <AuthPage notice={notice} prepare={loadSignedIn} />
      )}
    </CrashBoundary>
  );
}
