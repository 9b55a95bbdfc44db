import { AntiHackingPage } from '#features/anti-hacking/anti-hacking-page.tsx';
import { lazyPart } from '#ui/lazy-part.tsx';

const SecurityDialog = lazyPart(async () => (await import('#features/account/security-dialog.tsx')).SecurityDialog);

/** The monitor, with the security dialog of the account feature. */
export const ANTI_HACKING = <AntiHackingPage securityDialog={SecurityDialog} />;
