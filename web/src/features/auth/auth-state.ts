import type { AuthField, FieldMessages } from './auth.ts';
import type { AuthMode } from './auth-modes.ts';

/** Message of the form. `tone` decides its colour, because many texts come from the server. */
export interface AuthMessage {
  tone: 'good' | 'bad';
  text: string;
  /** The address at which the attempt would work. */
  elsewhere?: string | undefined;
}

/** A refusal of a form for one email, until a time in ms since 1970. */
export interface Refusal {
  mode: AuthMode;
  email: string;
  until: number;
  sentence: string;
}

export type AuthValues = Record<AuthField, string>;

export interface AuthState {
  mode: AuthMode;
  /** True if no field has been edited yet. */
  isUntouched: boolean;
  values: AuthValues;
  fieldMessages: FieldMessages;
  message: AuthMessage | undefined;
  /** The sign-in method that is being attempted. */
  busy: 'form' | 'passkey' | undefined;
  refusal: Refusal | undefined;
}

export type AuthAction =
  | { kind: 'typed'; field: AuthField; value: string }
  /** Opens Register on an installation without an account. */
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

/** Text after the countdown. */
const AGAIN = 'You can try again now.';

export const good = (text: string): AuthMessage => ({ tone: 'good', text });
export const bad = (text: string, elsewhere?: string): AuthMessage => ({ tone: 'bad', text, elsewhere });

/** `asked` is the mode in the page's address. */
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
