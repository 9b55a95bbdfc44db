import './zod-without-eval.ts';
import { type UserInfo, userInfoSchema } from '@palisade/contract/auth';
import { useSyncExternalStore } from 'react';
import { readAnswer } from './unknown-values.ts';

const TOKEN_KEY = 'palisade.access_token';
const USER_KEY = 'palisade.user_info';
/** Why this browser's last session ended, where its person did not end it: for the other tabs. */
const NOTICE_KEY = 'palisade.session_notice';

export interface Session {
  access_token: string;
  user_info: UserInfo;
  /** Held: nothing but setting up the second factor that its person must have. Not stored: the server says it again. */
  two_factor_setup_required?: true | undefined;
  /** The person has still to confirm their address, and some things wait for it. Not stored either. */
  email_unproven?: true | undefined;
}

/** Why the sign-in screen is shown to a person who did not sign out here. */
export type SessionNotice = (typeof NOTICES)[number];
const NOTICES = ['session_ended', 'signed_out_elsewhere', 'account_deleted'] as const;

interface State {
  session: Session | undefined;
  notice: SessionNotice | undefined;
}

const listeners = new Set<() => void>();
let state: State = { session: readStored(), notice: undefined };

function parseUser(text: string): UserInfo | undefined {
  try {
    return readAnswer(userInfoSchema, JSON.parse(text))?.data;
  } catch {
    return undefined;
  }
}

/** Storage that is blocked, half written or corrupt is a person who is not signed in. */
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
      // The token last: another tab that sees it finds its user beside it.
      localStorage.setItem(USER_KEY, JSON.stringify(session.user_info));
      localStorage.setItem(TOKEN_KEY, session.access_token);
    } else {
      // Another tab that sees the token go finds why beside it.
      if (notice) localStorage.setItem(NOTICE_KEY, notice);
      else localStorage.removeItem(NOTICE_KEY);
      localStorage.removeItem(TOKEN_KEY);
      localStorage.removeItem(USER_KEY);
    }
  } catch {
    // Without storage the session lives as long as the page.
  }
}

function become(next: State): void {
  state = next;
  for (const listener of listeners) listener();
}

/** The session right now, for calls; components use `useSession`. */
export function currentSession(): Session | undefined {
  return state.session;
}

export function startSession(session: Session): void {
  store(session);
  become({ session, notice: undefined });
}

/** Ends the session of this browser; `notice` is told on the sign-in screen. */
export function endSession(notice?: SessionNotice): void {
  store(undefined, notice);
  become({ session: undefined, notice });
}

/** Takes over what the server says about the signed-in person; ignored when somebody else has signed in meanwhile. */
export function refreshUser(account: UserInfo & Pick<Session, 'two_factor_setup_required' | 'email_unproven'>): void {
  if (state.session?.user_info.id !== account.id) return;
  // Other facts about the person are not kept in storage.
  const { id, username, email, role, email_unproven } = account;
  // A hold ends where it is seen that there is a second factor: this may be an answer from before it began.
  const two_factor_setup_required = account.two_factor_setup_required ?? state.session.two_factor_setup_required;
  const session = { ...state.session, user_info: { id, username, email, role }, two_factor_setup_required, email_unproven };
  store(session);
  become({ session, notice: undefined });
}

/** Holds the session of a token, or lets it go; ignored when another one has begun since. */
export function holdSession(access_token: string, two_factor_setup_required: true | undefined): void {
  const { session } = state;
  if (session?.access_token !== access_token || session.two_factor_setup_required === two_factor_setup_required) return;
  become({ ...state, session: { ...session, two_factor_setup_required } });
}

/** Reads storage anew, as after a change by another tab. */
export function restoreSession(): void {
  const session = readStored();
  const before = state.session;
  if (!session) {
    if (before) become({ session: undefined, notice: readNotice() ?? 'signed_out_elsewhere' });
  } else if (before?.access_token !== session.access_token || before.user_info.username !== session.user_info.username) {
    become({ session, notice: undefined });
  }
}

// `key` is null when another tab cleared everything.
window.addEventListener('storage', (event) => {
  if (event.key === null || event.key === TOKEN_KEY || event.key === USER_KEY) restoreSession();
});

function subscribe(listener: () => void): () => void {
  listeners.add(listener);
  return () => listeners.delete(listener);
}

export function useSession(): State {
  return useSyncExternalStore(subscribe, () => state);
}
