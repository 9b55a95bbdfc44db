import type { AuthField, FieldMessages } from './auth.ts';
import type { AuthMode } from './auth-modes.ts';

/** Message of the form. Its colour is the tone, whatever the words are: many of them are the server's. */
export interface AuthMessage {
  tone: 'good' | 'bad';
  text: string;
  /** The address where what was tried would work. */
  elsewhere?: string | undefined;
}

/** A form that the server will not look at again until a moment, in ms since 1970, for that email. */
export interface Refusal {
  mode: AuthMode;
  email: string;
  until: number;
  sentence: string;
}

export type AuthValues = Record<AuthField, string>;

export interface AuthState {
  mode: AuthMode;
  /** No field was typed or chosen yet. */
  isUntouched: boolean;
  values: AuthValues;
  fieldMessages: FieldMessages;
  message: AuthMessage | undefined;
  /** Which of the ways in is being tried. */
  busy: 'form' | 'passkey' | undefined;
  refusal: Refusal | undefined;
}

export type AuthAction =
  | { kind: 'typed'; field: AuthField; value: string }
  /** Register opens first on an installation without an account. */
  | { kind: 'first_opened' }
  | { kind: 'moved'; mode: AuthMode; message?: AuthMessage | undefined; values?: Partial<AuthValues> }
  | { kind: 'tried'; by: 'form' | 'passkey' }
  | { kind: 'ended' }
  | { kind: 'told'; message: AuthMessage }
  | { kind: 'refused'; text: string; fields: FieldMessages }
  | { kind: 'held'; refusal: Refusal }
  | { kind: 'hold_ended' };

export const EMPTY: AuthValues = {
  email: '',
  username: '',
  password: '',
  confirm: '',
  reset_token: '',
  new_password: '',
};

/** Text in place of a countdown. */
const AGAIN = 'You can try again now.';

export const good = (text: string): AuthMessage => ({ tone: 'good', text });
export const bad = (text: string, elsewhere?: string): AuthMessage => ({ tone: 'bad', text, elsewhere });

/** `asked`: the mode that the page's address names. */
export function firstState(asked: AuthMode | 'unknown' | undefined): AuthState {
  const isKnown = asked !== undefined && asked !== 'unknown';
  return {
    mode: isKnown ? asked : 'login',
    isUntouched: asked === undefined,
    values: EMPTY,
    fieldMessages: {},
    message: asked === 'unknown' ? bad('Invalid action') : undefined,
    busy: undefined,
    refusal: undefined,
  };
}

export function authReducer(state: AuthState, action: AuthAction): AuthState {
  switch (action.kind) {
    case 'typed': {
      const { field, value } = action;
      const values = { ...state.values, [field]: value };
      return { ...state, isUntouched: false, values, fieldMessages: { ...state.fieldMessages, [field]: undefined } };
    }
    case 'first_opened':
      return state.isUntouched ? { ...state, mode: 'register' } : state;
    case 'moved': {
      const { mode, message, values } = action;
      const after = { ...state, mode, message, isUntouched: false, fieldMessages: {} };
      return values === undefined ? after : { ...after, busy: undefined, values: { ...state.values, ...values } };
    }
    case 'tried':
      return { ...state, busy: action.by, message: undefined, fieldMessages: {} };
    case 'ended':
      return { ...state, busy: undefined };
    case 'told':
      return { ...state, message: action.message };
    case 'refused':
      return { ...state, message: bad(action.text), fieldMessages: action.fields };
    case 'held':
      return { ...state, refusal: action.refusal };
    case 'hold_ended':
      return { ...state, refusal: undefined, message: good(AGAIN) };
  }
}
