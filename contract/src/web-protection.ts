import { z } from 'zod';
import { deviceNameSchema } from './device-name.ts';
import { endpoint } from './endpoint.ts';
import { idSchema, pageQuerySchema, timeSchema } from './fields.ts';

/** Length of an IPv6 address that ends with an IPv4 address (RFC 4291). */
const IPV6_LENGTH_MAXIMUM = 45;

/** Maximum number of names that a person can block or allow. */
export const WEB_NAMES_MAXIMUM = 500;
/** Header of a page that tests whether the address of a device answers. The reply is always the same, and the query does not count for the device. */
export const WEB_TRIAL_HEADER = 'palisade-trial';
/** Minutes for which a person can pause the blocking of dangerous names. */
export const PAUSE_MINUTES = 60;

/** Kinds of devices, each with its own instructions. `other`: televisions, consoles, and all others. */
export const WEB_DEVICE_KINDS = ['apple', 'android', 'windows', 'browser', 'router', 'linux', 'other'] as const;
export const webDeviceKindSchema = z.enum(WEB_DEVICE_KINDS, { error: 'Choose what the device is.' });
export type WebDeviceKind = z.infer<typeof webDeviceKindSchema>;

/** Categories that a person can block. Dangerous names are always refused, unless paused. */
export const WEB_CATEGORIES = ['ads', 'adult', 'gambling', 'ways_around'] as const;
export const webCategorySchema = z.enum(WEB_CATEGORIES);
export type WebCategory = z.infer<typeof webCategorySchema>;

export const SAFE_SEARCH = ['off', 'moderate', 'strict'] as const;

/** The reason for a refusal: a category, `own` for a name that the person blocked, `private_address`, or the id of a service. */
const reasonSchema = z.string();
const countedSchema = z.array(z.object({ category: reasonSchema, count: z.int() }));

export const webDeviceSchema = z.object({
  id: idSchema,
  name: z.string(),
  kind: webDeviceKindSchema,
  /** Identifies the device in its DNS address. It gives access to nothing else. Empty for a computer with the agent. */
  key: z.string(),
  /** The agent's device that sends the queries; null for all other devices. */
  device_id: idSchema.nullable(),
  created_at: timeSchema,
  /** True for a device of a person of the home, whose rules are set in Household. */
  is_of_household: z.boolean(),
  /** The source of its plain DNS queries: an address, or all of the server's network. Null for a device with a key. */
  address: z.string().nullable(),
  /** Null until its first query. */
  last_question_at: timeSchema.nullable(),
  /** It has sent no query for longer than usual. */
  is_silent: z.boolean(),
  /** The longest interval between two queries in the 14 days before the last one, in hours, at least 24; null unless it is silent. */
  usual_gap_h: z.int().nullable(),
  /** Whether the person may have all its names shown; false for a network. */
  can_show_names: z.boolean(),
  /** Time until which all names are recorded; null a day later, when the last of them is deleted. */
  names_until: timeSchema.nullable(),
  /** Counts of the last 24 hours. */
  answered: z.int(),
  refused: countedSchema,
});
export type WebDevice = z.infer<typeof webDeviceSchema>;

export const webPolicySchema = z.object({
  categories: z.array(webCategorySchema).max(WEB_CATEGORIES.length),
  /** Ids of blocked services. */
  services: z.array(z.string().max(40)).max(100),
  safe_search: z.enum(SAFE_SEARCH),
});
export type WebPolicy = z.infer<typeof webPolicySchema>;

export const webNameSchema = z.object({
  id: idSchema,
  name: z.string(),
  verdict: z.enum(['allow', 'block']),
  created_at: timeSchema,
});
export type WebName = z.infer<typeof webNameSchema>;

export const webProtectionSchema = z.object({
  /** Newest first. */
  devices: z.array(webDeviceSchema),
  /** Maximum number of devices that the person’s plan allows. */
  devices_maximum: z.int(),
  /** Number of devices that can be added. Devices of other guardians of the home are listed but not counted. */
  devices_left: z.int(),
  policy: webPolicySchema,
  /** Time until which dangerous names are answered; null while they are refused. */
  paused_until: timeSchema.nullable(),
  names: z.array(webNameSchema),
  /** Number of names on the list of each category; 0 if the installation has no list. */
  categories: z.array(z.object({ category: webCategorySchema, names: z.int() })),
  /** True if the installation has a list of dangerous names. */
  has_dangerous: z.boolean(),
  /** Other protocols than DNS over HTTPS: the parent domain of DNS over TLS names, the address of plain DNS, and fixed addresses of the server. */
  ways: z.object({ tls_host: z.string().nullable(), plain: z.string().nullable(), addresses: z.array(z.string()) }),
  services: z.array(z.object({ id: z.string(), name: z.string(), kind: z.enum(['video', 'games', 'chats']) })),
});
export type WebProtection = z.infer<typeof webProtectionSchema>;

export const readWebProtection = endpoint({
  method: 'GET',
  path: '/web-protection',
  summary: 'Your devices of web protection, and which names are refused on them.',
  access: 'customer',
  reply: webProtectionSchema,
});

export const addWebDevice = endpoint({
  method: 'POST',
  path: '/web-protection/devices',
  summary: 'Add a device to web protection. Its key names it in the address that it asks for names.',
  access: 'customer',
  changes: 'devices',
  body: z.object({
    name: deviceNameSchema,
    kind: webDeviceKindSchema,
    /** Only for administrators: identifies the device by the source of its plain DNS queries, its own address or the server's whole network. */
    address: z
      .union([z.literal('network'), z.ipv4(), z.ipv6().max(IPV6_LENGTH_MAXIMUM)], {
        error: 'Enter an IP address, like 192.168.1.20.',
      })
      .optional(),
  }),
  status: 201,
  reply: webDeviceSchema,
  problems: ['conflict', 'forbidden'],
});

export const removeWebDevice = endpoint({
  method: 'DELETE',
  path: '/web-protection/devices/{id}',
  summary: 'Remove a device from web protection. Its key answers no longer.',
  access: 'customer',
  changes: 'devices',
});

export const renewWebKey = endpoint({
  method: 'POST',
  path: '/web-protection/devices/{id}/renew-key',
  summary: 'Give a device another key. The one before answers no longer.',
  access: 'customer',
  changes: 'devices',
  reply: webDeviceSchema,
});

/** Hours for which all names of a device are recorded, and for which each recorded name is kept. */
export const SHOW_NAMES_HOURS = 1;
export const SHOWN_NAMES_KEPT_HOURS = 24;

export const showWebNames = endpoint({
  method: 'POST',
  path: '/web-protection/devices/{id}/show-names',
  summary: 'Show all names that your device asks for, for an hour. Stopping deletes them.',
  access: 'customer',
  changes: 'devices',
  body: z.object({ shown: z.boolean() }),
  reply: z.object({ names_until: timeSchema.nullable() }),
  problems: ['conflict'],
});

export const webShownNameSchema = z.object({ id: idSchema, name: z.string(), count: z.int(), last_at: timeSchema });

export const listShownNames = endpoint({
  method: 'GET',
  path: '/web-protection/devices/{id}/names',
  summary: 'Names that your device asked for while all of them were shown, newest first. Each is kept for a day.',
  access: 'customer',
  query: pageQuerySchema,
  reply: z.array(webShownNameSchema),
});

export const switchAgentNames = endpoint({
  method: 'PUT',
  path: '/web-protection/agents/{id}',
  summary: 'Have the agent of a device ask this server for names, or let its computer ask as before.',
  access: 'customer',
  changes: 'devices',
  body: z.object({ is_on: z.boolean() }),
  problems: ['conflict'],
});

export const setWebPolicy = endpoint({
  method: 'PUT',
  path: '/web-protection/policy',
  summary: 'Choose which categories and services are refused on your devices, and whether searches are safe.',
  access: 'customer',
  changes: 'devices',
  body: webPolicySchema,
  reply: webPolicySchema,
});

export const pauseWebProtection = endpoint({
  method: 'POST',
  path: '/web-protection/pause',
  summary: 'Answer dangerous names for an hour, or refuse them again.',
  access: 'customer',
  changes: 'devices',
  body: z.object({ paused: z.boolean() }),
  reply: z.object({ paused_until: timeSchema.nullable() }),
});

/** A website as a person types it; the server parses it further. */
export const typedNameSchema = z
  .string({ error: 'Enter a domain, like example.com.' })
  .trim()
  .min(1, 'Enter a domain, like example.com.')
  .max(300, 'Enter a domain, like example.com.');

export const checkWebName = endpoint({
  method: 'GET',
  path: '/web-protection/check',
  summary: 'Whether your devices of web protection refuse a name now.',
  access: 'customer',
  query: z.object({ name: typedNameSchema }),
  reply: z.object({ is_refused: z.boolean() }),
});

export const addWebName = endpoint({
  method: 'POST',
  path: '/web-protection/names',
  summary: 'Block or allow a name and all names below it on your devices. A later choice replaces the one before.',
  access: 'customer',
  changes: 'devices',
  body: z.object({
    name: typedNameSchema,
    verdict: z.enum(['allow', 'block']),
  }),
  status: 201,
  reply: webNameSchema,
  problems: ['conflict'],
});

export const removeWebName = endpoint({
  method: 'DELETE',
  path: '/web-protection/names/{id}',
  summary: 'Remove a name from those that you block or allow.',
  access: 'customer',
  changes: 'devices',
});

/** A name that was refused for a device. `rule` is the listed name, equal to `name` or a parent domain of it. */
export const webRefusalSchema = z.object({
  id: idSchema,
  device_id: idSchema,
  name: z.string(),
  rule: z.string(),
  category: reasonSchema,
  count: z.int(),
  last_at: timeSchema,
});
export type WebRefusal = z.infer<typeof webRefusalSchema>;

export const listWebRefusals = endpoint({
  method: 'GET',
  path: '/web-protection/refused',
  summary: 'Names that were refused on your devices in the last 7 days, newest first.',
  access: 'customer',
  query: pageQuerySchema.extend({ device_id: idSchema.optional() }),
  reply: z.array(webRefusalSchema),
});

/** A list of DOMAIN_LISTS. `waiting` is the number of names in a newer version that is less than half as long, which is used only after an administrator accepts it. */
export const domainListSchema = z.object({
  id: z.string(),
  name: z.string(),
  category: z.enum([...WEB_CATEGORIES, 'dangerous']),
  names: z.int(),
  as_of: timeSchema.nullable(),
  waiting: z.int().nullable(),
  /** The reason why the last fetch failed. */
  fault: z.string().nullable(),
});
export type DomainList = z.infer<typeof domainListSchema>;

export const listDomainLists = endpoint({
  method: 'GET',
  path: '/admin/domain-lists',
  summary: 'The lists of names of web protection, with their dates.',
  access: 'admin',
  reply: z.array(domainListSchema),
});

export const acceptDomainList = endpoint({
  method: 'POST',
  path: '/admin/accept-domain-list',
  summary: 'Use a list of names that became less than half as long.',
  access: 'admin',
  body: z.object({ id: z.string().max(64) }),
  reply: z.array(domainListSchema),
  problems: ['not_found'],
});
