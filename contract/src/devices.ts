import { z } from 'zod';
import {
  ackStateSchema,
  agentHealthSchema,
  capabilitiesSchema,
  defaultsSchema,
  devicePathSchema,
  deviceScanStateSchema,
  foreignTableSchema,
  osSchema,
  postureSchema,
  scanKindSchema,
  scanProgressOnDeviceSchema,
  telemetrySchema,
  watchingSchema,
  webProtectionStateSchema,
} from './agent.ts';
import { scanSchema } from './antivirus.ts';
import { deviceNameSchema } from './device-name.ts';
import { endpoint } from './endpoint.ts';
import { idSchema, pageQuerySchema, timeSchema } from './fields.ts';
import { directionSchema } from './firewall.ts';

/** A device that has not been heard for so long is silent: an alert, the status, and lists of people say so; in ms. */
export const OFFLINE_ALERT_MS = 7 * 24 * 60 * 60_000;
/** Period of "blocked lately", in ms. */
export const BLOCKED_WINDOW_MS = 60 * 60_000;

/** A connected agent that has not reported for so long does not work any more, in ms: it reports every half a minute, by the workers that read files. */
export const STALLED_MS = 90_000;

/** `offline`: its agent has no socket now. `stalled`: it has one, and does not report. A revoked device is listed until it is removed. */
/** `waiting`: its person has not said that it is theirs. It gets no rules, and its reports do not count. */
export const deviceStateSchema = z.enum(['waiting', 'online', 'stalled', 'offline', 'revoked']);
export type DeviceState = z.infer<typeof deviceStateSchema>;

/** The state of a device's rules beside those that it should have. `pending`: it has not answered for `desired_rev` yet. */
export const enforcementSchema = z.object({
  state: z.enum(['pending', ...ackStateSchema.options]),
  desired_rev: z.int(),
  /** The revision that its kernel has, as it last said; 0 for none. */
  applied_rev: z.int(),
  /** The time since which `desired_rev` is asked for and not applied; null when it is. */
  pending_since: timeSchema.nullable(),
  applied_at: timeSchema.nullable(),
  /** While a revision is on trial: the seconds until the one before it comes back, unless the device proves that it still reaches this server. */
  seconds_left: z.int().min(0).nullable(),
  /** Why the revision was refused or rolled back, with the rule where it is one. */
  errors: z.array(z.object({ rule_id: idSchema.nullable(), message: z.string() })),
});
export type Enforcement = z.infer<typeof enforcementSchema>;

export const deviceScanSchema = z.object({
  id: idSchema,
  device_id: idSchema,
  scan: scanKindSchema,
  path: z.string().nullable(),
  state: deviceScanStateSchema,
  reason: z.string().nullable(),
  requested_at: timeSchema,
  started_at: timeSchema.nullable(),
  ended_at: timeSchema.nullable(),
  signatures_version: z.string().nullable(),
  progress: scanProgressOnDeviceSchema.nullable(),
  files_found: z.int(),
  /** Files that were not read whole and folders that could not be read. */
  files_unread: z.int(),
});
export type DeviceScan = z.infer<typeof deviceScanSchema>;

/** A computer of a person, with what it last said of itself. */
export const deviceSchema = z.object({
  id: idSchema,
  device_name: z.string(),
  hostname: z.string(),
  os: osSchema,
  agent_version: z.string(),
  enrolled_at: timeSchema,
  /** Of its key; its agent shows the same. */
  fingerprint: z.string(),
  revoked_at: timeSchema.nullable(),
  last_seen_at: timeSchema.nullable(),
  state: deviceStateSchema,
  /** Null until its agent has said hello once. */
  capabilities: capabilitiesSchema.nullable(),
  /** Lead of its clock over the server's, in ms. */
  skew_ms: z.int().nullable(),
  defaults: defaultsSchema,
  enforcement: enforcementSchema,
  /** Rules that reach it. */
  rules_count: z.int(),
  telemetry: telemetrySchema.nullable(),
  telemetry_at: timeSchema.nullable(),
  posture: z.array(postureSchema),
  foreign_tables: z.array(foreignTableSchema),
  is_watching: z.boolean(),
  /** Its last report of watched folders; null for none. */
  watching: watchingSchema.nullable(),
  /** The last health report of its agent; null for an earlier version, or before the first report. */
  health: agentHealthSchema.nullable(),
  /** The last report of its agent on web protection, which is wanted where a device of web protection has this `device_id`; null for none. */
  web_protection: webProtectionStateSchema.nullable(),
  watched: z.array(z.string()),
  exclusions: z.array(z.string()),
  /** The scan that runs or was asked for last, and when a full scan last reached its end. */
  scan: deviceScanSchema.nullable(),
  last_full_scan_at: timeSchema.nullable(),
});
export type Device = z.infer<typeof deviceSchema>;

export const listDevices = endpoint({
  method: 'GET',
  path: '/devices',
  summary: 'The devices of the signed-in person, newest first.',
  access: 'customer',
  query: pageQuerySchema,
  reply: z.array(deviceSchema),
});

export const readDevice = endpoint({
  method: 'GET',
  path: '/devices/{id}',
  summary: 'One device with what it last said of itself.',
  access: 'customer',
  reply: deviceSchema,
});

export const createEnrolmentCode = endpoint({
  method: 'POST',
  path: '/devices/enrolment-code',
  summary: 'Make a code with which one computer becomes a device within ten minutes. An older one that was not used ends.',
  access: 'customer',
  needs_proven_email: true,
  status: 201,
  reply: z.object({
    /** Shown as `K7M4Q-P9XDA`. */
    code: z.string(),
    expires_at: timeSchema,
    /** The whole line to run on the computer, which asks for the code; null where this server cannot be reached by https and is not on this machine, with `refusal`. */
    command: z.string().nullable(),
    refusal: z.string().nullable(),
  }),
  problems: ['device_limit'],
});

export const confirmDevice = endpoint({
  method: 'POST',
  path: '/devices/{id}/confirm',
  summary: 'Say that a new device with this fingerprint is yours. Until then it gets no rules, and its reports do not count.',
  access: 'customer',
  body: z.object({ fingerprint: z.string().max(100) }),
  changes: 'devices',
  reply: deviceSchema,
  problems: ['conflict'],
});

/** Systems for which there is no agent yet, and that people may ask for. */
export const wishedSystemSchema = z.enum(['windows', 'macos', 'phone'], { error: 'Choose windows, macos, or phone.' });
export type WishedSystem = z.infer<typeof wishedSystemSchema>;
/** Characters of the note beside a wish. */
export const WISH_NOTE_MAXIMUM = 500;

/** A person's wish for an agent on a system. */
export const deviceWishSchema = z.object({ system: wishedSystemSchema, note: z.string(), created_at: timeSchema });
export type DeviceWish = z.infer<typeof deviceWishSchema>;

export const listDeviceWishes = endpoint({
  method: 'GET',
  path: '/devices/wishes',
  summary: 'The systems for which the signed-in person asked for an agent.',
  access: 'customer',
  reply: z.array(deviceWishSchema),
});

export const saveDeviceWish = endpoint({
  method: 'POST',
  path: '/devices/wishes',
  summary: 'Ask for an agent on a system. A second wish for the same system replaces the note of the first.',
  access: 'customer',
  body: z.object({
    system: wishedSystemSchema,
    note: z.string().trim().max(WISH_NOTE_MAXIMUM, `Use at most ${WISH_NOTE_MAXIMUM} characters.`).default(''),
  }),
  changes: 'devices',
  reply: deviceWishSchema,
});

export const withdrawDeviceWish = endpoint({
  method: 'POST',
  path: '/devices/wishes/withdraw',
  summary: 'Withdraw the wish for a system.',
  access: 'customer',
  body: z.object({ system: wishedSystemSchema }),
  changes: 'devices',
});

/** Notes of a system that administrators see. */
export const WISH_NOTES_SHOWN = 20;

/** The wishes of all people for one system, with the newest notes. */
export const wishedForSchema = z.object({ system: wishedSystemSchema, people: z.int(), notes: z.array(z.string()) });
export type WishedFor = z.infer<typeof wishedForSchema>;

export const countDeviceWishes = endpoint({
  method: 'GET',
  path: '/admin/device-wishes',
  summary: 'How many people ask for an agent on each system, the most wanted first.',
  access: 'admin',
  reply: z.array(wishedForSchema),
});

const FOLDERS_MAXIMUM = 50;

/** Settings of a device that its owner may change, each alone. `defaults` decide traffic that no rule matches; `watched` folders come beside the usual ones; no scan enters `exclusions`. */
export const deviceChangesSchema = z
  .strictObject({
    device_name: deviceNameSchema,
    defaults: defaultsSchema.partial(),
    is_watching: z.boolean(),
    watched: z.array(devicePathSchema).max(FOLDERS_MAXIMUM),
    exclusions: z.array(devicePathSchema).max(FOLDERS_MAXIMUM),
  })
  .partial()
  .refine((changes) => Object.keys(changes).length > 0, 'Name at least one setting to change.');
export type DeviceChanges = z.infer<typeof deviceChangesSchema>;

export const changeDevice = endpoint({
  method: 'PATCH',
  path: '/devices/{id}',
  summary: 'Change the named settings of a device, and no others. Other defaults are a new revision for the device.',
  access: 'customer',
  body: deviceChangesSchema,
  changes: 'devices',
  reply: deviceSchema,
  problems: ['conflict'],
});

/** A revoked device gets nothing any more, and takes its rules away after ten minutes. */
export const revokeDevice = endpoint({
  method: 'POST',
  path: '/devices/{id}/revoke',
  summary: 'End a device: its token is worth nothing from now on, and its place in the plan is free.',
  access: 'customer',
  changes: 'devices',
  reply: deviceSchema,
  problems: ['conflict'],
});

export const removeDevice = endpoint({
  method: 'DELETE',
  path: '/devices/{id}',
  summary: 'Take a device out of the list, with all that it said. One that is not revoked is revoked first.',
  access: 'customer',
  changes: 'devices',
});

/** Decisions of a rule, or of a direction's default, on one device. */
const ruleCountSchema = z.object({
  device_id: idSchema,
  of: z.union([idSchema, directionSchema]),
  packets: z.int(),
  bytes: z.int(),
  /** When it last rose. */
  last_at: timeSchema.nullable(),
});
export type RuleCount = z.infer<typeof ruleCountSchema>;

export const countRules = endpoint({
  method: 'GET',
  path: '/devices/counters',
  summary: 'How many packets each rule decided on each device, since the rule reached it.',
  access: 'customer',
  reply: z.array(ruleCountSchema),
});

/** Recently dropped packets, by the other end. */
const blockedSourceSchema = z.object({
  device_id: idSchema,
  direction: directionSchema,
  protocol: z.enum(['tcp', 'udp', 'icmp', 'other']),
  address: z.string(),
  port: z.int().nullable(),
  packets: z.int(),
  first_at: timeSchema,
  last_at: timeSchema,
});
export type BlockedSource = z.infer<typeof blockedSourceSchema>;

export const listBlocked = endpoint({
  method: 'GET',
  path: '/devices/blocked',
  summary: 'What the devices of the signed-in person dropped in the last hour, most packets first; 500 at most.',
  access: 'customer',
  reply: z.object({
    /** Packets dropped in the last hour and since ever, over all devices. */
    packets: z.int(),
    packets_total: z.int(),
    sources: z.array(blockedSourceSchema).max(500),
  }),
});

export const listDeviceScans = endpoint({
  method: 'GET',
  path: '/devices/{id}/scans',
  summary: 'The scans of a device, newest first.',
  access: 'customer',
  query: pageQuerySchema,
  reply: z.array(deviceScanSchema),
});

export const startDeviceScan = endpoint({
  method: 'POST',
  path: '/devices/{id}/scans',
  summary: 'Have a device scan its files where they are.',
  access: 'customer',
  body: z
    .object({ scan: scanKindSchema, path: devicePathSchema.nullable().default(null) })
    .refine(({ scan, path }) => (scan === 'folder') === (path !== null), {
      path: ['path'],
      error: 'Enter a folder only when you scan one folder.',
    }),
  changes: 'devices',
  status: 201,
  reply: deviceScanSchema,
  problems: ['conflict'],
});

export const steerDeviceScan = endpoint({
  method: 'POST',
  path: '/devices/scans/{id}/steer',
  summary: 'Pause, resume or cancel a scan of a device.',
  access: 'customer',
  body: z.object({ wanted: z.enum(['run', 'pause', 'cancel'], { error: 'Choose run, pause, or cancel.' }) }),
  changes: 'devices',
  reply: deviceScanSchema,
  problems: ['conflict'],
});

/**
 * The state of a second look: the server's scanner reads a file that a device found. `asked`: the device has not sent it yet. `failed`: it was not scanned, for `reason`.
 * `gone`: there is no record of the scan any more.
 */
const findingsSecondLookSchema = z.object({
  state: z.enum(['asked', 'scanning', 'answered', 'failed', 'gone']),
  asked_at: timeSchema,
  reason: z.string().nullable(),
  scan: scanSchema
    .pick({
      id: true,
      scan_status: true,
      status_detail: true,
      scanned_at: true,
      threat_detected: true,
      is_test_file: true,
      engines: true,
    })
    .nullable(),
});
export type FindingsSecondLook = z.infer<typeof findingsSecondLookSchema>;

/** A file that was found on a device. `order` is what its person asked for and the device has not done yet. */
const deviceFindingSchema = z.object({
  id: idSchema,
  device_id: idSchema,
  scan_id: idSchema.nullable(),
  path: z.string(),
  file_hash: z.string(),
  size: z.int(),
  threat: z.string(),
  member: z.string().nullable(),
  found_at: timeSchema,
  state: z.enum(['quarantined', 'left', 'restored', 'deleted']),
  reason: z.string().nullable(),
  order: z.enum(['restore', 'delete']).nullable(),
  /** Null where none was asked for. */
  second_look: findingsSecondLookSchema.nullable(),
});
export type DeviceFinding = z.infer<typeof deviceFindingSchema>;

export const listDeviceFindings = endpoint({
  method: 'GET',
  path: '/devices/findings',
  summary: 'What was found on the devices of the signed-in person, newest first.',
  access: 'customer',
  query: pageQuerySchema,
  reply: z.array(deviceFindingSchema),
});

export const orderDeviceFinding = endpoint({
  method: 'POST',
  path: '/devices/findings/{id}/order',
  summary: 'Have a device restore or delete a file that it keeps in quarantine.',
  access: 'customer',
  body: z.object({ action: z.enum(['restore', 'delete'], { error: 'Choose restore or delete.' }) }),
  changes: 'devices',
  reply: deviceFindingSchema,
  problems: ['conflict'],
});

export const askSecondLook = endpoint({
  method: 'POST',
  path: '/devices/findings/{id}/second-look',
  summary:
    'Have a device send a file that it found to this server, which scans it as an upload. Files of devices are sent for this alone, and only once their person agrees.',
  access: 'customer',
  body: z.object({ agreed: z.literal(true, { error: 'Agree to send the file to this server.' }) }),
  changes: 'devices',
  reply: deviceFindingSchema,
  problems: ['conflict'],
});

export const withdrawSecondLook = endpoint({
  method: 'DELETE',
  path: '/devices/findings/{id}/second-look',
  summary: 'Take back that a device sends a file, while it has not sent it.',
  access: 'customer',
  changes: 'devices',
  reply: deviceFindingSchema,
  problems: ['conflict'],
});

/** Alerts that devices raise, as the rules of detection. */
export const DEVICE_ALERTS = [
  'device_ssh_guessing',
  'device_tampered',
  'device_offline',
  'device_new_listening_port',
  'device_infected_file',
] as const;
export type DeviceAlert = (typeof DEVICE_ALERTS)[number];
