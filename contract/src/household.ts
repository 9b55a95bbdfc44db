import { z } from 'zod';
import { DEVICE_NAME_MAXIMUM } from './device-name.ts';
import { endpoint } from './endpoint.ts';
import { idSchema, timeSchema } from './fields.ts';
import {
  SAFE_SEARCH,
  typedNameSchema,
  WEB_CATEGORIES,
  webCategorySchema,
  webDeviceKindSchema,
  webNameSchema,
} from './web-protection.ts';

/** Age groups that have presets: up to 7 years, 8 to 12, 13 to 15, and from 16. */
export const AGE_GROUPS = ['small_child', 'child', 'teenager', 'sixteen'] as const;
export const ageGroupSchema = z.enum(AGE_GROUPS, { error: 'Choose an age.' });
export type AgeGroup = z.infer<typeof ageGroupSchema>;

/** Age groups for which guardians see only counts, never names. */
export const PRIVATE_AGE: AgeGroup = 'sixteen';

export const PROFILE_PICTURES = ['fox', 'owl', 'whale', 'cat', 'robot', 'rocket', 'tree', 'star', 'computer'] as const;
export type ProfilePicture = (typeof PROFILE_PICTURES)[number];

/** Maximum number of times, names and guardians of one profile or home. */
export const PROFILE_TIMES_MAXIMUM = 12;
export const PROFILE_NAMES_MAXIMUM = 200;
export const GUARDIANS_MAXIMUM = 6;
/** Days for which the link of an invitation to a home is valid. */
export const HOME_INVITE_DAYS = 7;
/** Maximum number of waiting requests of a profile. Further ones increase the count of the newest. */
export const WAITING_ASKS_MAXIMUM = 5;
/** Hours for which the answer `hour` allows a name. */
export const ASK_ALLOWED_HOURS = 1;

const CLOCK = 'Enter a time, like 21:00.';
const clockSchema = z.string({ error: CLOCK }).regex(/^(?:[01]\d|2[0-3]):[0-5]\d$/u, CLOCK);

/** Names that are refused at these times: `all`, or those of the services of a kind. */
export const TIMED = ['all', 'video', 'games', 'chats'] as const;

/**
 * A weekly time in the home's time zone. `days` are those on which it begins (1 is Monday, 7 is Sunday). `to` is excluded, and is on the
 * next day if it is not later than `from`; from 00:00 to 00:00 is the whole day.
 */
export const profileTimeSchema = z.object({
  days: z.array(z.int().min(1).max(7)).min(1, 'Choose at least one day.').max(7),
  from: clockSchema,
  to: clockSchema,
  refuses: z.enum(TIMED),
});
export type ProfileTime = z.infer<typeof profileTimeSchema>;

/** The rules of a profile. */
export const profileRulesSchema = z.object({
  categories: z.array(webCategorySchema).max(WEB_CATEGORIES.length),
  /** Ids of services that are always blocked. */
  services: z.array(z.string().max(40)).max(100),
  safe_search: z.enum(SAFE_SEARCH),
  times: z.array(profileTimeSchema).max(PROFILE_TIMES_MAXIMUM, `Use at most ${PROFILE_TIMES_MAXIMUM} times.`),
});
export type ProfileRules = z.infer<typeof profileRulesSchema>;

/** Reasons of a household for a refusal, besides those of web protection: a guardian's pause, a time for all names, a time for a kind of services, a name blocked by a guardian. */
export const HOUSEHOLD_REASONS = ['paused', 'time', 'time_services', 'guardian'] as const;

/** A name that was refused on the devices of a profile. */
export const profileRefusalSchema = z.object({
  id: idSchema,
  device_name: z.string(),
  name: z.string(),
  /** The service that was refused as a whole, and is requested as a whole; empty for a single name. */
  service: z.string(),
  /** A reason of web protection or one of `HOUSEHOLD_REASONS`. */
  category: z.string(),
  count: z.int(),
  last_at: timeSchema,
});
export type ProfileRefusal = z.infer<typeof profileRefusalSchema>;

/** `no_plan`: no guardian has a plan with profiles, so only dangerous names are refused. */
export const PROFILE_STATES = ['on', 'paused', 'no_plan'] as const;

const profileDeviceSchema = z.object({
  id: idSchema,
  name: z.string(),
  kind: webDeviceKindSchema,
  last_question_at: timeSchema.nullable(),
  is_silent: z.boolean(),
});

/** Counts since the beginning of the day in the home’s time zone. */
const todaySchema = z.object({ answered: z.int(), refused: z.array(z.object({ category: z.string(), count: z.int() })) });

/** Answers to “May I?”. `wait`: no answer yet. */
export const ASK_ANSWERS = ['wait', 'hour', 'always', 'no'] as const;
export type AskAnswer = (typeof ASK_ANSWERS)[number];

export const askSchema = z.object({
  id: idSchema,
  /** The requested name, or its service. */
  name: z.string(),
  /** Number of times it was requested. */
  count: z.int(),
  asked_at: timeSchema,
  answer: z.enum(ASK_ANSWERS),
  /** The guardian’s message. */
  line: z.string(),
  answered_at: timeSchema.nullable(),
  /** Time until which the name is allowed, for the answer `hour`. */
  until: timeSchema.nullable(),
});
export type Ask = z.infer<typeof askSchema>;

export const profileSchema = z.object({
  id: idSchema,
  name: z.string(),
  picture: z.enum(PROFILE_PICTURES),
  age_group: ageGroupSchema,
  /** Profiles of the people who share this profile’s devices; the strictest of their rules apply. Empty for the profile of one person. */
  shared_by: z.array(idSchema),
  rules: profileRulesSchema,
  state: z.enum(PROFILE_STATES),
  paused_until: timeSchema.nullable(),
  /** The key of the person’s page below `/ask/`. It gives access to nothing else. Empty once the person has opened the page, if guardians do not see their names. */
  ask_key: z.string(),
  devices: z.array(profileDeviceSchema),
  /** Names that guardians allowed or blocked. `until` is null for a permanent one. */
  names: z.array(webNameSchema.extend({ until: timeSchema.nullable() })),
  today: todaySchema,
  /** The newest 50; empty if guardians see only counts. */
  refused: z.array(profileRefusalSchema),
  created_at: timeSchema,
});
export type Profile = z.infer<typeof profileSchema>;

export const homeInviteSchema = z.object({ id: idSchema, email: z.string(), expires_at: timeSchema });

export const householdSchema = z.object({
  /** The time zone of the profiles’ times. */
  time_zone: z.string(),
  guardians: z.array(z.object({ id: idSchema, name: z.string(), is_me: z.boolean() })),
  invites: z.array(homeInviteSchema),
  /** Oldest first. */
  profiles: z.array(profileSchema),
  /** Number of profiles that the guardians’ plans allow, and whether any of them has a plan. */
  profiles_maximum: z.int(),
  has_plan: z.boolean(),
  /** Waiting requests, then those of the last day, newest first. */
  asks: z.array(askSchema.extend({ profile_id: idSchema, device_name: z.string() })),
  /** The caller’s devices of web protection without a profile; networks are never included. */
  free_devices: z.array(z.object({ id: idSchema, name: z.string(), kind: webDeviceKindSchema })),
  presets: z.array(z.object({ age_group: ageGroupSchema, rules: profileRulesSchema })),
});
export type Household = z.infer<typeof householdSchema>;

export const readHousehold = endpoint({
  method: 'GET',
  path: '/household',
  summary: 'The people of your home: their profiles, devices, and what they asked. Without a home all lists are empty.',
  access: 'customer',
  reply: householdSchema,
});

const timeZoneSchema = z.string({ error: 'Choose a time zone.' }).min(1, 'Choose a time zone.').max(64, 'Choose a time zone.');

export const setHomeTimeZone = endpoint({
  method: 'PUT',
  path: '/household/time-zone',
  summary: 'Choose the time zone that the times of profiles are in.',
  access: 'customer',
  changes: 'devices',
  body: z.object({ time_zone: timeZoneSchema }),
  problems: ['not_found'],
});

const profileNameSchema = z
  .string({ error: 'Enter a name.' })
  .trim()
  .min(1, 'Enter a name.')
  .max(DEVICE_NAME_MAXIMUM, `Use at most ${DEVICE_NAME_MAXIMUM} characters for the name.`)
  .regex(/^[^\p{Cc}]*$/u, 'Remove the control characters from the name.');

const profileBody = z.object({
  name: profileNameSchema,
  picture: z.enum(PROFILE_PICTURES),
  age_group: ageGroupSchema,
  shared_by: z.array(idSchema).max(20),
});

export const addProfile = endpoint({
  method: 'POST',
  path: '/household/profiles',
  summary: 'Add a profile with the preset of its age group. The first one makes the home.',
  access: 'customer',
  changes: 'devices',
  body: profileBody.extend({
    shared_by: profileBody.shape.shared_by.default([]),
    /** Time zone of a new home. */
    time_zone: timeZoneSchema,
  }),
  status: 201,
  reply: profileSchema,
  problems: ['conflict'],
});

export const changeProfile = endpoint({
  method: 'PATCH',
  path: '/household/profiles/{id}',
  summary: 'Change a profile. Another age group does not change its rules.',
  access: 'customer',
  changes: 'devices',
  body: profileBody.extend({ rules: profileRulesSchema }).partial(),
  reply: profileSchema,
  problems: ['conflict'],
});

export const removeProfile = endpoint({
  method: 'DELETE',
  path: '/household/profiles/{id}',
  summary: 'Remove a profile, what was refused on it and what it asked. Its devices stay with their owner’s own rules.',
  access: 'customer',
  changes: 'devices',
});

export const pauseProfile = endpoint({
  method: 'POST',
  path: '/household/profiles/{id}/pause',
  summary: 'Refuse all names on the devices of a profile: for minutes, until tomorrow in the home’s time zone, or no longer.',
  access: 'customer',
  changes: 'devices',
  body: z.object({ pause: z.enum(['15', '60', 'tomorrow', 'end']) }),
  reply: z.object({ paused_until: timeSchema.nullable() }),
});

export const renewAskKey = endpoint({
  method: 'POST',
  path: '/household/profiles/{id}/renew-key',
  summary: 'Give the page of a profile another address. The one before opens it no longer.',
  access: 'customer',
  changes: 'devices',
  reply: z.object({ ask_key: z.string() }),
});

export const addProfileName = endpoint({
  method: 'POST',
  path: '/household/profiles/{id}/names',
  summary:
    'Block or allow a name and all names below it for a profile, for an hour or always. A later choice replaces the one before.',
  access: 'customer',
  changes: 'devices',
  body: z.object({ name: typedNameSchema, verdict: z.enum(['allow', 'block']), for_an_hour: z.boolean().default(false) }),
  status: 201,
  reply: profileSchema,
  problems: ['conflict'],
});

export const removeProfileName = endpoint({
  method: 'DELETE',
  path: '/household/names/{id}',
  summary: 'Remove a name from those that a profile is allowed or refused.',
  access: 'customer',
  changes: 'devices',
});

/** `is_safe_search`: the name is answered with the address of the search engine’s safe search. */
export const tryProfile = endpoint({
  method: 'POST',
  path: '/household/profiles/{id}/try',
  summary:
    'Whether the devices of a profile get a name on a day and at a time, and why. Uses `rules` in place of its own where they are given.',
  access: 'customer',
  body: z.object({ name: typedNameSchema, day: z.int().min(1).max(7), clock: clockSchema, rules: profileRulesSchema.optional() }),
  reply: z.object({
    is_allowed: z.boolean(),
    /** Null if no rule refuses or allows the name. */
    category: z.string().nullable(),
    /** The name in the rule, equal to or above the requested one; empty if there is none. */
    rule: z.string(),
    is_safe_search: z.boolean(),
  }),
});

export const setDeviceProfile = endpoint({
  method: 'PUT',
  path: '/household/devices/{id}',
  summary: 'Give a device of web protection to a profile, or take it back.',
  access: 'customer',
  changes: 'devices',
  body: z.object({ profile_id: idSchema.nullable() }),
  problems: ['conflict', 'not_found'],
});

const ASK_LINE_MAXIMUM = 200;

export const answerAsk = endpoint({
  method: 'POST',
  path: '/household/asks/{id}/answer',
  summary: 'Answer a “May I?”: for an hour, always, or no. Later answers replace earlier ones.',
  access: 'customer',
  changes: 'devices',
  body: z.object({
    answer: z.enum(ASK_ANSWERS).extract(['hour', 'always', 'no']),
    line: z.string().trim().max(ASK_LINE_MAXIMUM, `Use at most ${ASK_LINE_MAXIMUM} characters.`).default(''),
  }),
  reply: askSchema,
  problems: ['conflict'],
});

export const inviteGuardian = endpoint({
  method: 'POST',
  path: '/household/invites',
  summary:
    'Invite another adult to your home. They get the same rights. The link is for the account with this email, works once and expires.',
  access: 'customer',
  needs_proven_email: true,
  changes: 'devices',
  body: z.object({ email: z.string({ error: 'Enter an email address, like name@example.com.' }).trim().max(320) }),
  status: 201,
  /** `link`: for delivery by hand if no email is sent. Without PUBLIC_URL it is only a path, because a caller can forge the host of a request. */
  reply: homeInviteSchema.extend({ link: z.string() }),
  problems: ['conflict', 'not_found'],
});

export const withdrawHomeInvite = endpoint({
  method: 'DELETE',
  path: '/household/invites/{id}',
  summary: 'End an invitation to your home.',
  access: 'customer',
  changes: 'devices',
});

const TOKEN = 'Open the link of your invitation.';
const inviteTokenSchema = z.object({ token: z.string({ error: TOKEN }).min(1, TOKEN).max(128, TOKEN) });

export const lookAtHomeInvite = endpoint({
  method: 'POST',
  path: '/household/look-at-invite',
  summary: 'Who invites you to their home.',
  access: 'customer',
  needs_proven_email: true,
  body: inviteTokenSchema,
  reply: z.object({ invited_by: z.string(), profiles: z.array(z.string()), has_own_home: z.boolean() }),
  problems: ['not_found'],
});

export const joinHome = endpoint({
  method: 'POST',
  path: '/household/join',
  summary: 'Become a guardian of the home that you are invited to. A home of your own must have no profiles left.',
  access: 'customer',
  needs_proven_email: true,
  changes: 'devices',
  body: inviteTokenSchema,
  problems: ['conflict', 'not_found'],
});

export const leaveHome = endpoint({
  method: 'POST',
  path: '/household/leave',
  summary: 'Leave your home. Profiles stay while another guardian does; the last one must remove them first.',
  access: 'customer',
  changes: 'devices',
  problems: ['conflict', 'not_found'],
});

const askKeySchema = z.string({ error: 'Open this page from its own address.' }).max(64, 'Open this page from its own address.');

/**
 * Keys of a profile’s page. The browser generates `own_key` and keeps it to itself. If guardians do not see the person’s names, `own_key` replaces `key` (which guardians
 * know) at the first visit, and without it the page shows no names.
 */
const askPageKeys = z.object({ key: askKeySchema, own_key: askKeySchema.optional() });

/** The page of a profile’s person. Guardians never see more refused names than this page shows. */
export const askPageSchema = z.object({
  name: z.string(),
  picture: z.enum(PROFILE_PICTURES),
  age_group: ageGroupSchema,
  /** Whether guardians see refused names of this person, or only counts. */
  guardians_see: z.enum(['names', 'counts']),
  guardians: z.array(z.string()),
  /** All devices of the profile; a device that is not listed has its owner’s rules. */
  devices: z.array(profileDeviceSchema),
  state: z.enum(PROFILE_STATES),
  paused_until: timeSchema.nullable(),
  /** The time for all names that applies now; otherwise null. */
  time_now: profileTimeSchema.nullable(),
  rules: profileRulesSchema,
  time_zone: z.string(),
  today: todaySchema,
  /** The newest 50. `can_ask` is false for dangerous names, and while a request waits. */
  refused: z.array(profileRefusalSchema.extend({ can_ask: z.boolean() })),
  asks: z.array(askSchema),
});
export type AskPage = z.infer<typeof askPageSchema>;

export const lookAtAskPage = endpoint({
  method: 'POST',
  path: '/ask/look',
  summary: 'What was refused on the devices of a profile, and the answers to what it asked, with the key of its page.',
  access: 'anyone',
  body: askPageKeys,
  reply: askPageSchema,
  problems: ['not_found'],
});

export const mayI = endpoint({
  method: 'POST',
  path: '/ask',
  summary: 'Ask the guardians for a refused name. Asked again it counts, and tells them no second time.',
  access: 'anyone',
  body: askPageKeys.extend({ refusal_id: idSchema }),
  reply: askPageSchema,
  problems: ['conflict', 'not_found'],
});
