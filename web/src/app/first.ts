import type { currentUser } from '@palisade/contract/auth';
import type { readDashboard } from '@palisade/contract/dashboard';
import type { readOverview } from '@palisade/contract/overview';
import type { readConfig } from '@palisade/contract/platform';
import { askEarly, isAtStart } from '#api/early.ts';
import { TOKEN_KEY, USER_KEY } from '#api/session-keys.ts';

// A separate script that sends requests while the large files of the entry are loading (web/first-files.ts). It imports types and only a few lines of code.

const ME: typeof currentUser.path = '/auth/me';
const CONFIG: typeof readConfig.path = '/config';
const STATUS: typeof readDashboard.path = '/dashboard/status';
const OVERVIEW: typeof readOverview.path = '/admin/overview';

/** The stored session. Its values are validated when the session is read. */
function storedSession(): { token: string; role: unknown } | undefined {
  try {
    const token = localStorage.getItem(TOKEN_KEY);
    const user: unknown = JSON.parse(localStorage.getItem(USER_KEY) ?? '');
    if (!token || typeof user !== 'object' || user === null) return undefined;
    return { token, role: 'role' in user ? user.role : undefined };
  } catch {
    return undefined;
  }
}

const stored = storedSession();
if (stored && !location.pathname.startsWith('/ask/')) {
  const { token, role } = stored;
  askEarly(token, isAtStart() ? [CONFIG, STATUS, ...(role === 'admin' ? [OVERVIEW] : [])] : [CONFIG, ME]);
}
