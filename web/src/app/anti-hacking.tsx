import { AntiHackingPage } from '#features/anti-hacking/anti-hacking-page.tsx';
import { lazyPart } from '#ui/lazy-part.tsx';

const SecurityDialog = lazyPart(async () => (await import('#features/account/security-dialog.tsx')).SecurityDialog);

/** The monitor, with the dialog of another feature that its findings open. */
export const ANTI_HACKING = <AntiHackingPage securityDialog={SecurityDialog} />;
