import './zod-without-eval.ts';
import { type UserInfo, userInfoSchema } from '@palisade/contract/auth';
import { useSyncExternalStore } from 'react';
import { createListeners } from './listeners.ts';
import { TOKEN_KEY, USER_KEY } from './session-keys.ts';
import { readAnswer } from './unknown-values.ts';

/** The reason why the last session ended without its person ending it, for the other tabs. */
const NOTICE_KEY = 'palisade.session_notice';

export interface Session {
  access_token: string;
  user_info: UserInfo;
  /** The session is held: the person may only set up the required second factor. Not stored; the server sends it again. */
  two_factor_setup_required?: true | undefined;
  /** The person has not confirmed their email address, which some actions require. Not stored. */
  email_unproven?: true | undefined;
}

/** The reason why the sign-in screen is shown to a person who did not sign out here. */
export type SessionNotice = (typeof NOTICES)[number];
const NOTICES = ['session_ended', 'signed_out_elsewhere', 'account_deleted'] as const;

interface State {
  session: Session | undefined;
  notice: SessionNotice | undefined;
}

const listeners = createListeners();
let state: State = { session: readStored(), notice: undefined };

function parseUser(text: string): UserInfo | undefined {
  try {
    return readAnswer(userInfoSchema, JSON.parse(text))?.data;
  } catch {
    return undefined;
  }
}

/** Blocked, incomplete or corrupt storage counts as signed out. */
function readStored(): Session | undefined {
  try {
    const access_token = localStorage.getItem(TOKEN_KEY);
    const user_info = parseUser(localStorage.getItem(USER_KEY) ?? '');
    return access_token && user_info ? { access_token, user_info } : undefined;
  } catch {
    return undefined;
  }
}

function readNotice(): SessionNotice | undefined {
  try {
    return NOTICES.find((notice) => notice === localStorage.getItem(NOTICE_KEY));
  } catch {
    return undefined;
  }
}

function store(session: Session | undefined, notice?: SessionNotice): void {
  try {
    if (session) {
      localStorage.removeItem(NOTICE_KEY);
      // The token is written last, so that another tab that sees it also finds its user.
      localStorage.setItem(USER_KEY, JSON.stringify(session.user_info));
      localStorage.setItem(TOKEN_KEY, session.access_token);
    } else {
      // The notice is written first, so that another tab that sees the token removed also finds the reason.
      if (notice) localStorage.setItem(NOTICE_KEY, notice);
      else localStorage.removeItem(NOTICE_KEY);
      localStorage.removeItem(TOKEN_KEY);
      localStorage.removeItem(USER_KEY);
    }
  } catch {
    // Without storage the session lasts as long as the page.
  }
}

function become(next: State): void {
  state = next;
  listeners.tell();
}

/** The current session, for calls. Components use `useSession`. */
export function currentSession(): Session | undefined {
  return state.session;
}

export function startSession(session: Session): void {
  store(session);
  become({ session, notice: undefined });
}

/** Ends the session of this browser. The sign-in screen shows `notice`. */
export function endSession(notice?: SessionNotice): void {
  store(undefined, notice);
  become({ session: undefined, notice });
}

/** Updates the signed-in person with the server's data; ignored if another person has signed in since. */
export function refreshUser(account: UserInfo & Pick<Session, 'two_factor_setup_required' | 'email_unproven'>): void {
  if (state.session?.user_info.id !== account.id) return;
  // Storage keeps only these facts about the person.
  const { id, username, email, role, email_unproven } = account;
  // Only `holdSession` ends a hold: this reply may be from before the hold began.
  const two_factor_setup_required = account.two_factor_setup_required ?? state.session.two_factor_setup_required;
  const session = { ...state.session, user_info: { id, username, email, role }, two_factor_setup_required, email_unproven };
  store(session);
  become({ session, notice: undefined });
}

/** Sets or ends the hold of the session of a token; ignored if another session has started since. */
export function holdSession(access_token: string, two_factor_setup_required: true | undefined): void {
  const { session } = state;
  if (session?.access_token !== access_token || session.two_factor_setup_required === two_factor_setup_required) return;
  become({ ...state, session: { ...session, two_factor_setup_required } });
}

/** Reads the session from storage again, after a change by another tab. */
export function restoreSession(): void {
  const session = readStored();
  const before = state.session;
  if (!session) {
    if (before) become({ session: undefined, notice: readNotice() ?? 'signed_out_elsewhere' });
  } else if (before?.access_token !== session.access_token || before.user_info.username !== session.user_info.username) {
    become({ session, notice: undefined });
  }
}

// `key` is null if another tab cleared all storage.
window.addEventListener('storage', (event) => {
  if (event.key === null || event.key === TOKEN_KEY || event.key === USER_KEY) restoreSession();
});

export function useSession(): State {
  return useSyncExternalStore(listeners.subscribe, () => state);
}
