import { formatNumber, plural } from '@palisade/contract/intl';
import { useUploadCounts } from '#features/antivirus/uploads.tsx';
import { signOut } from '#features/auth/auth.ts';

/** Signs out; asks first while files are being scanned. */
export function useSignOut(): () => void {
  const { running } = useUploadCounts();
  return () => {
    const question = plural(running, {
      one: 'A file is still being scanned. Sign out and stop?',
      other: `${formatNumber(running)} files are still being scanned. Sign out and stop?`,
    });
    if (running > 0 && !window.confirm(question)) return;
    void signOut();
  };
}
