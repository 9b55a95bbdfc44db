import type { Config } from '#api/config.ts';

/** Modes of the sign-in screen. */
export type AuthMode = 'login' | 'register' | 'forgot-password' | 'reset-password' | 'recover-username';

export const AUTH_MODES: Record<AuthMode, { title: string; line: string; submit: string }> = {
  login: { title: 'Welcome', line: 'Enter your email and password.', submit: 'Sign In' },
  register: {
    title: 'Create your account',
    line: 'It takes a minute. You’ll sign in with your email.',
    submit: 'Create Account',
  },
  'forgot-password': {
    title: 'Forgot your password?',
    line: 'Enter your email to get a code for a new password.',
    submit: 'Send Reset Instructions',
  },
  'reset-password': {
    title: 'Set a new password',
    line: 'Enter your code and a new password. You’ll be signed out everywhere.',
    submit: 'Reset Password',
  },
  'recover-username': {
    title: 'Forgot your username?',
    line: 'Enter your email to recover your username.',
    submit: 'Recover Username',
  },
};

/** Shown if no email is sent. The same for every address, because it must not reveal which have an account. */
export const CODE_BY_HAND = 'This installation sends no email. Ask your administrator for the code.';

/** The sentence under the title of a mode. */
export function lineOf(mode: AuthMode, config: Config | undefined): string {
  if (config?.administrator === 'first_account') {
    if (mode === 'register') return 'You’re the first here: you’ll be the administrator.';
    if (mode === 'login') return 'No account exists here yet. Register the first one.';
  }
  if (config?.reset_delivery === 'outbox') {
    if (mode === 'forgot-password') return `Enter your email to request a code. ${CODE_BY_HAND}`;
    if (mode === 'reset-password') return CODE_BY_HAND;
  }
  return AUTH_MODES[mode].line;
}

const MODE_PARAMETER = 'mode';

function isAuthMode(text: string): text is AuthMode {
  return Object.hasOwn(AUTH_MODES, text);
}

/** The URL parameter that opens a mode on any screen. */
export function addressOfMode(mode: AuthMode): string {
  return `?${MODE_PARAMETER}=${mode}`;
}

/** The mode in the page's address, as in the link of an email; undefined without one. */
export function modeOfAddress(search: string): AuthMode | 'unknown' | undefined {
  const text = new URLSearchParams(search).get(MODE_PARAMETER);
  if (text === null) return undefined;
  return isAuthMode(text) ? text : 'unknown';
}

/** The address without its mode, so that a reload or sign-in does not open it again. */
export function addressWithoutMode({ pathname, search, hash }: Location): string {
  const rest = new URLSearchParams(search);
  rest.delete(MODE_PARAMETER);
  return `${pathname}${rest.size > 0 ? `?${rest}` : ''}${hash}`;
}
