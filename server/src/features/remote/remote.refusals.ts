import { type Refusal, refusalsFrom } from '#platform/refusals.ts';

/** Refusals about remote sessions. A landed code never changes its meaning or its parameters. */
export const REMOTE_REFUSALS = {
  'remote_session.not_running': {
    problem: 'conflict',
    english: 'This session isn’t running. It wasn’t approved yet or has ended.',
  },
  'remote_session.details_only_during': {
    problem: 'conflict',
    english: 'You can see the customer’s details only during the session.',
  },
  'remote_session.already_ended': { problem: 'conflict', english: 'This session has already ended.' },
  'remote_session.not_ended_by_you': {
    problem: 'conflict',
    english: 'You can’t end this session. It has no technician yet or has already ended.',
  },
  'remote_session.request_over': { problem: 'conflict', english: 'This request to join was answered, ended, or expired.' },
  'remote_session.technician_refused': {
    problem: 'conflict',
    english: 'This technician can no longer join sessions. The session has ended.',
  },
  'remote_session.nobody_joined': { problem: 'conflict', english: 'No one joined this session, so there’s no one to report.' },
  'remote_session.already_reported': {
    problem: 'conflict',
    english: 'You’ve already reported this session. The administrators know.',
  },
  'remote_session.not_rated_yet': {
    problem: 'conflict',
    english: 'You can rate a session after it ends, if a technician helped you.',
  },
  'remote_session.moved': { problem: 'conflict', english: 'This session has ended or moved to another page.' },
  'remote_session.gone': { problem: 'invalid_field', english: 'This session no longer exists. Reload the list.' },
  /** The same answer for every wrong code, so that it does not reveal which codes exist or existed. */
  'remote_session.wrong_code': {
    problem: 'not_found',
    english: 'No session is waiting with this code. Check it with the customer, or ask for a new one.',
  },
  'remote_session.too_many_codes': {
    problem: 'too_many_requests',
    english: 'Too many wrong session codes. Wait a few minutes, then check the code with the customer.',
  },
  'remote_grant.not_now': {
    problem: 'conflict',
    english: 'You can’t allow this now: the session isn’t running or one side left.',
  },
  'remote_grant.device_first': {
    problem: 'conflict',
    english: 'Allow viewing or control of this device before you share its clipboard.',
  },
  'remote_grant.no_device': { problem: 'conflict', english: 'This device is no longer in your account. Check Devices.' },
  'remote_grant.view_is_shared': {
    problem: 'conflict',
    english: 'Use the picture’s buttons to start or stop sharing your screen.',
  },
  'remote_file.too_many': {
    problem: 'conflict',
    english: 'A session can have at most {maximum} files.',
    params: { maximum: 'number' },
  },
  'remote_file.too_many_at_once': {
    problem: 'conflict',
    english: '{maximum} files are on their way. Wait until they arrive.',
    params: { maximum: 'number' },
  },
  'remote_file.not_allowed': {
    problem: 'conflict',
    english: 'You can send files only while the session runs and the customer allows it.',
  },
  'remote_file.not_clean': { problem: 'conflict', english: 'You can’t open this file: it isn’t clean or isn’t scanned yet.' },
  'remote_file.not_kept': { problem: 'conflict', english: 'We didn’t keep this file.' },
  'remote_file.gone': { problem: 'conflict', english: 'We no longer keep this file.' },
  'recording.too_many': {
    problem: 'conflict',
    english: 'A session can have at most {maximum} recordings.',
    params: { maximum: 'number' },
  },
  'recording.not_allowed': {
    problem: 'conflict',
    english: 'You can record only while the session runs and the customer allows it.',
  },
  'recording.not_awaited': { problem: 'conflict', english: 'This recording was already sent, refused, or cancelled.' },
  'remote_message.nobody_reads': {
    problem: 'conflict',
    english: 'This message wasn’t sent. The session has no technician yet or has ended.',
  },
  'remote_message.too_many': {
    problem: 'conflict',
    english: 'A session can have at most {maximum} messages.',
    params: { maximum: 'number' },
  },
} as const satisfies Record<string, Refusal>;

export const { refuse, refuseField } = refusalsFrom(REMOTE_REFUSALS);

/** Refusals of a move of a session: those of the state that it is in. */
export type MoveRefusal = {
  [Code in keyof typeof REMOTE_REFUSALS]: (typeof REMOTE_REFUSALS)[Code] extends {
    problem: 'conflict';
    english: string;
    params?: never;
  }
    ? Code
    : never;
}[keyof typeof REMOTE_REFUSALS];
