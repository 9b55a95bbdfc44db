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

/** Time without contact after which a device counts as silent in alerts, the status, and lists of people, in ms. */
export const OFFLINE_ALERT_MS = 7 * 24 * 60 * 60_000;
/** Period of recently blocked packets, in ms. */
export const BLOCKED_WINDOW_MS = 60 * 60_000;

/** Time without a report after which a connected agent counts as stalled, in ms. It reports every 30 s, through the workers that read files. */
export const STALLED_MS = 90_000;

/** `offline`: its agent has no socket. `stalled`: its agent is connected but does not report. A revoked device is listed until it is removed. */
/** `waiting`: the person has not confirmed that it is theirs. It receives no rules, and its reports are not counted. */
export const deviceStateSchema = z.enum(['waiting', 'online', 'stalled', 'offline', 'revoked']);
export type DeviceState = z.infer<typeof deviceStateSchema>;

/** The rules of a device compared with the desired ones. `pending`: it has not answered for `desired_rev` yet. */
export const enforcementSchema = z.object({
  state: z.enum(['pending', ...ackStateSchema.options]),
  desired_rev: z.int(),
  /** The revision in its kernel according to its last report; 0 if there is none. */
  applied_rev: z.int(),
  /** Time since which `desired_rev` waits to be applied; null once it is. */
  pending_since: timeSchema.nullable(),
  applied_at: timeSchema.nullable(),
  /** During a trial: seconds until the device returns to the previous revision, unless it reaches this server before. */
  seconds_left: z.int().min(0).nullable(),
  /** Reasons why the revision was refused or rolled back, with the rule if one is the cause. */
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
  /** Number of files that were not read completely, plus folders that could not be read. */
  files_unread: z.int(),
});
export type DeviceScan = z.infer<typeof deviceScanSchema>;

/** A person's computer, with the data of its last reports. */
export const deviceSchema = z.object({
  id: idSchema,
  device_name: z.string(),
  hostname: z.string(),
  os: osSchema,
  agent_version: z.string(),
  enrolled_at: timeSchema,
  /** Fingerprint of its key; its agent shows the same. */
  fingerprint: z.string(),
  revoked_at: timeSchema.nullable(),
  last_seen_at: timeSchema.nullable(),
  state: deviceStateSchema,
  /** Null until its agent's first `hello`. */
  capabilities: capabilitiesSchema.nullable(),
  /** Difference of its clock to the server's, in ms; positive if it is ahead. */
  skew_ms: z.int().nullable(),
  defaults: defaultsSchema,
  enforcement: enforcementSchema,
  /** Number of rules that apply to it. */
  rules_count: z.int(),
  telemetry: telemetrySchema.nullable(),
  telemetry_at: timeSchema.nullable(),
  posture: z.array(postureSchema),
  foreign_tables: z.array(foreignTableSchema),
  is_watching: z.boolean(),
  /** Its last report of watched folders; null if there is none. */
  watching: watchingSchema.nullable(),
  /** The last health report of its agent; null for an earlier version, or before the first report. */
  health: agentHealthSchema.nullable(),
  /** The agent's last report on web protection, which is on if a device of web protection has this `device_id`; null if there is none. */
  web_protection: webProtectionStateSchema.nullable(),
  watched: z.array(z.string()),
  exclusions: z.array(z.string()),
  /** The running or last requested scan, and the time when a full scan was last completed. */
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
    /** Shown in the form `K7M4Q-P9XDA`. */
    code: z.string(),
    expires_at: timeSchema,
    /** The command to run on the computer, which asks for the code; null with `refusal` if this server is neither reachable over https nor on the same machine. */
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

/** Systems without an agent, for which people can request one. */
export const wishedSystemSchema = z.enum(['windows', 'macos', 'phone'], { error: 'Choose windows, macos, or phone.' });
export type WishedSystem = z.infer<typeof wishedSystemSchema>;
/** Maximum length of the note of a request, in characters. */
export const WISH_NOTE_MAXIMUM = 500;

/** A person's request for an agent for a system. */
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

/** Maximum number of notes of a system that administrators see. */
export const WISH_NOTES_SHOWN = 20;

/** The requests of all people for one system, with the newest notes. */
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

/** Device settings, each of which can be changed alone. `defaults` decide traffic without a matching rule; `watched` folders add to the usual ones; scans skip `exclusions`. */
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

/** A revoked device receives no more data and removes its rules after ten minutes. */
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

/** Number of packets that a rule or a direction's default decided on one device. */
const ruleCountSchema = z.object({
  device_id: idSchema,
  of: z.union([idSchema, directionSchema]),
  packets: z.int(),
  bytes: z.int(),
  /** Time of the last increase. */
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

/** Recently dropped packets by remote address. */
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
    /** Packets dropped in the last hour, and in total, on all devices. */
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
 * State of a second look: the server scans a file that a device found. `asked`: the device has not uploaded it yet. `failed`: it was not scanned, for `reason`.
 * `gone`: the record of the scan was deleted.
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

/** An infected file on a device. `order` is the person's request that the device has not carried out yet. */
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
  /** Null if none was requested. */
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

/** Rules of detection for alerts that devices raise. */
export const DEVICE_ALERTS = [
  'device_ssh_guessing',
  'device_tampered',
  'device_offline',
  'device_new_listening_port',
  'device_infected_file',
] as const;
export type DeviceAlert = (typeof DEVICE_ALERTS)[number];
