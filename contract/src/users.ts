import { z } from 'zod';
import { roleSchema, userInfoSchema } from './auth.ts';
import { typedEmail } from './email.ts';
import { endpoint } from './endpoint.ts';
import { idSchema, NO_PASSWORD_IS_LONGER, pageQuerySchema, TYPED_PASSWORD_MAXIMUM, timeSchema } from './fields.ts';
import { sessionSchema } from './sessions.ts';
import { statusStateSchema } from './status.ts';
import { AT_MOST_ONE_PROOF, proofShape } from './two-factor.ts';

const SEARCH_LENGTH_MAXIMUM = 254;

/** A person as administrators see them. */
export const adminUserSchema = userInfoSchema.extend({
  created_at: timeSchema,
  /** Time since which the person may not sign in; null if they may. */
  disabled_at: timeSchema.nullable(),
  last_signed_in_at: timeSchema.nullable(),
  /** Number of valid sessions, and the time when one of them was last used. */
  sessions: z.int(),
  last_used_at: timeSchema.nullable(),
  two_factor: z.boolean(),
  /** The address is not confirmed, where confirmation is required. */
  email_unproven: z.boolean(),
  /** The name of the active plan; null without a plan. */
  plan_name: z.string().nullable(),
  /** Score and state when they were last computed; null if never. */
  security_score: z.int().nullable(),
  state: statusStateSchema.nullable(),
  /** Number of open alerts of high or critical severity that were not blocked. */
  serious_alerts: z.int(),
  /** One of the person’s devices has had no contact for a week. */
  has_silent_device: z.boolean(),
});
export type AdminUser = z.infer<typeof adminUserSchema>;

/**
 * `disabled`: may not sign in. `unproven`: has not confirmed the address, where required. `new`: joined, and `active`: last used, within `LATELY_DAYS`. `at_risk`: has
 * the state danger or a serious alert. `unchecked`: has no known state and no serious alert. `serious_alert`: has one. `silent_device`: has a device without contact for a week.
 */
export const userStateSchema = z.enum(
  ['disabled', 'unproven', 'new', 'active', 'at_risk', 'unchecked', 'serious_alert', 'silent_device'],
  {
    error: 'This group of people doesn’t exist.',
  },
);
export type UserState = z.infer<typeof userStateSchema>;
/** `urgent`: serious alerts first, then the state danger, silent devices and unconfirmed addresses; within each the newest people first. */
export const USER_SORTS = ['newest', 'oldest', 'name', 'urgent'] as const;

const usersQuerySchema = pageQuerySchema.extend({
  search: z
    .string()
    .trim()
    .max(SEARCH_LENGTH_MAXIMUM, `Search for at most ${SEARCH_LENGTH_MAXIMUM} characters.`)
    .default('')
    .describe('A part of the email or of the username, in any case.'),
  role: roleSchema.optional(),
  state: userStateSchema.optional(),
  sort: z.enum(USER_SORTS, { error: 'Sort by newest, oldest, name, or urgent.' }).default('newest'),
});
export type UsersQuery = z.infer<typeof usersQuerySchema>;

export const listUsers = endpoint({
  method: 'GET',
  path: '/admin/users',
  summary: 'The people of this installation, newest first where nothing else is asked for.',
  access: 'admin',
  query: usersQuerySchema,
  reply: z.array(adminUserSchema),
});

export const changeUser = endpoint({
  method: 'PATCH',
  path: '/admin/users',
  summary: 'Give somebody another role, or disable or enable their account. Disabling ends their sessions at once.',
  access: 'admin',
  body: z
    .object({ user_id: idSchema, role: roleSchema.optional(), disabled: z.boolean().optional() })
    .refine(({ role, disabled }) => role !== undefined || disabled !== undefined, 'Choose what to change: role or disabled.'),
  changes_installation: 'people',
  reply: adminUserSchema,
  problems: ['not_found', 'last_admin'],
});

export const deleteUnprovenUser = endpoint({
  method: 'POST',
  path: '/admin/delete-unproven-user',
  summary:
    'Delete an account whose address nobody has confirmed, with everything in it: so that the address and the name are free again.',
  access: 'admin',
  body: z.object({ user_id: idSchema }),
  changes_installation: 'people',
  reply: z.object({ success: z.literal(true) }),
  problems: ['not_found', 'conflict', 'last_admin'],
});

export const deleteUser = endpoint({
  method: 'POST',
  path: '/admin/delete-user',
  summary:
    'Delete somebody else’s account with everything in it. It cannot be undone. Takes the administrator’s own password and, where they have two-factor sign-in, the second factor.',
  access: 'admin',
  body: z
    .object({
      user_id: idSchema,
      password: z
        .string({ error: 'Enter your password.' })
        .min(1, 'Enter your password.')
        .max(TYPED_PASSWORD_MAXIMUM, NO_PASSWORD_IS_LONGER),
      ...proofShape,
      confirmation: z
        .string({ error: 'Type the email of the account.' })
        .trim()
        .max(SEARCH_LENGTH_MAXIMUM, 'Type the email of the account.')
        .overwrite((typed) => typedEmail(typed) ?? typed.toLowerCase())
        .describe('The email of the account that is deleted.'),
    })
    .refine(...AT_MOST_ONE_PROOF),
  changes_installation: 'people',
  reply: z.object({ success: z.literal(true) }),
  problems: ['not_found', 'conflict', 'last_admin', 'second_factor_refused', 'too_many_requests', 'unavailable'],
});

export const listUserSessions = endpoint({
  method: 'GET',
  path: '/admin/user-sessions',
  summary: 'Where a person is signed in, newest first.',
  access: 'admin',
  query: pageQuerySchema.extend({ user_id: idSchema }),
  reply: z.array(sessionSchema),
});

export const endUserSessions = endpoint({
  method: 'POST',
  path: '/admin/end-user-sessions',
  summary: 'Sign a person out: of one session, or everywhere.',
  access: 'admin',
  body: z.object({ user_id: idSchema, session_id: idSchema.optional() }),
  changes_installation: 'people',
  reply: z.object({ success: z.literal(true) }),
  problems: ['not_found'],
});
