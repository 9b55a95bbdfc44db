import { z } from 'zod';
import { CLOSED, channel } from './channel.ts';
import { canonicalRule, deviceRuleSchema } from './device-rule.ts';
import { endpoint } from './endpoint.ts';
import { idSchema, isOneLine, timeSchema } from './fields.ts';
import { actionSchema, directionSchema } from './firewall.ts';
import { readAddresses } from './firewall-grammar.ts';
import { parseIp } from './ip-address.ts';
import { measuredChangesSchema } from './session-changes.ts';
import { typedCode } from './text.ts';

/**
 * Frames between the server and the agent on a person's computer. The agent opens one socket, `WS /api/agent/socket` (mechanism: channel.ts), and sends
 * `hello`; the server replies with `welcome` and the whole `desired` state, and sends it again after each change. If WebSockets are blocked, `POST /agent/poll`
 * carries the same frames. All times are ISO times of the sender's clock; `welcome.at` and `hello.at` show the difference between the two clocks.
 */
export const AGENT_PATH = '/agent/socket';

/** Interval of the server's `ping` frames on this channel, and of the agent's reports, in ms. */
export const AGENT_HEARTBEAT_MS = 20_000;
export const REPORT_INTERVAL_MS = 30_000;
/** Time in which an agent must reach the server over a new connection after a trial revision is applied, in ms. */
export const TRIAL_MS = 30_000;
/** The agent removes its firewall table after the server has answered `device_revoked` for this long, in ms. */
export const REVOKED_GRACE_MS = 10 * 60_000;
/** Longest wait of `POST /agent/poll`, in ms. */
export const POLL_WAIT_MS = 25_000;

/** Maximum number of rules of one device, and of addresses on its block list. */
export const DEVICE_RULES_MAXIMUM = 1_000;
export const BLOCK_LIST_MAXIMUM = 10_000;
/** The largest frame that an agent reads, in bytes: 1,000 rules of maximum length and a full block list. */
export const TOLD_BYTES_MAXIMUM = 16 * 1024 ** 2;
/** The largest frame that an agent sends, in bytes. */
export const SAID_BYTES_MAXIMUM = 256 * 1024;
/** Maximum number of entries in the lists of one frame. */
const COUNTERS_MAXIMUM = DEVICE_RULES_MAXIMUM + 2;
export const BLOCKED_MAXIMUM = 500;
export const LISTENING_MAXIMUM = 300;
export const CONNECTIONS_MAXIMUM = 300;
const TABLES_MAXIMUM = 50;
const ERRORS_MAXIMUM = 50;
const JOBS_MAXIMUM = 20;
const FOLDERS_MAXIMUM = 50;
const ORDERS_MAXIMUM = 200;
/** Maximum number of a person's remote sessions that one device measures at a time. */
export const MEASURED_SESSIONS_MAXIMUM = 8;
export const FINDINGS_MAXIMUM = 50;
const FRAMES_OF_A_POLL = 50;
/** Maximum length of a path on a device, in characters: 4,096 bytes (PATH_MAX of Linux), each escaped as up to four characters. */
export const PATH_LENGTH_MAXIMUM = 16_384;

/** One line of text that a device reports. It is untrusted: shown as plain text, and refused if it has control characters. */
function lineSchema(maximum: number) {
  return z.string().max(maximum).refine(isOneLine, 'Use one line of plain text.');
}

const countSchema = z.int().min(0);
const ipSchema = z
  .string()
  .max(64)
  .refine((text) => parseIp(text) !== undefined, 'Enter an IP address, like 192.168.1.10.');
const portSchema = z.int().min(0).max(65_535);
const percentSchema = z.number().min(0).max(100);
/**
 * An absolute path. It may contain any character that a file system allows except NUL, including line breaks. Paths on a device are bytes: a byte outside valid UTF-8 is
 * written as `\x` and two lower-case hexadecimal digits, and a backslash that would begin such an escape as `\x5c`. Screens show the escaped form.
 */
export const devicePathSchema = z
  .string()
  .min(1)
  .max(PATH_LENGTH_MAXIMUM)
  .refine(
    (path) => path.startsWith('/') && !path.includes('\u0000') && path.isWellFormed(),
    'Enter a full path, like /home/ada/Documents.',
  );
const sha256Schema = z.string().regex(/^[0-9a-f]{64}$/u, 'Enter a SHA-256 in hex.');
/** The token that authenticates a device: 32 random bytes in hex. The server stores only its SHA-256. */
export const deviceTokenSchema = z.string().regex(/^[0-9a-f]{64}$/u, 'This isn’t a device token.');
/** 16 random bytes in hex, new at each start of an agent. The same run may reconnect before its old socket is found dead; another run may not. */
const instanceSchema = z.string().regex(/^[0-9a-f]{32}$/u);

export const osSchema = z.object({
  platform: z.enum(['linux', 'darwin', 'windows', 'other']),
  /** The name that the system reports, e.g. `Debian GNU/Linux 12 (bookworm)`. */
  name: lineSchema(200),
  arch: lineSchema(40),
});
export type Os = z.infer<typeof osSchema>;

/** Abilities of an agent on its computer, with the reason for each missing one. */
export const capabilitiesSchema = z.object({
  /** `unavailable`: this computer enforces no rules, for `firewall_reason`. */
  firewall: z.enum(['nftables', 'unavailable']),
  firewall_reason: lineSchema(300).nullable(),
  /** Open connections are closed at once when a new rule blocks them. */
  conntrack: z.boolean(),
  scanner: z.boolean(),
  scanner_reason: lineSchema(300).nullable(),
  watch: z.boolean(),
  /** The computer’s screen can be shared and controlled. Agents of earlier versions do not send it. */
  control: z.boolean().default(false),
  control_reason: lineSchema(300).nullable().default('The agent on this device is out of date. Update it.'),
  /** Files found here can be sent to the server for a second look. Agents of earlier versions do not send this. */
  second_look: z.boolean().default(false),
  second_look_reason: lineSchema(300).nullable().default('The agent on this device is out of date. Update it.'),
  /** Containers run here; rules do not cover their outgoing traffic. */
  containers: z.boolean(),
  /** The agent reads `traffic` (device-rule.ts). Agents of earlier versions do not send this and receive the typed fields. */
  parsed_rules: z.boolean().default(false),
});
export type Capabilities = z.infer<typeof capabilitiesSchema>;

export const defaultsSchema = z.object({ inbound: actionSchema, outbound: actionSchema });
export type Defaults = z.infer<typeof defaultsSchema>;
/** Defaults of a newly enrolled device. */
export const ENROLLED_DEFAULTS: Defaults = { inbound: 'allow', outbound: 'allow' };

/** An entry of a block list: one address, network or range in the grammar of firewall-grammar.ts. */
const blockEntrySchema = z
  .string()
  .max(100)
  .refine((text) => {
    const read = readAddresses(text);
    return read.ok && read.value.family !== null && read.value.spans.length === 1;
  }, 'Enter an address, a network, or a range.');

export const scanKindSchema = z.enum(['quick', 'full', 'folder']);
export type ScanKind = z.infer<typeof scanKindSchema>;
/** An order to start, pause or cancel a scan. Finished and failed scans are not sent. */
export const scanJobSchema = z.object({
  id: idSchema,
  scan: scanKindSchema,
  /** The path of a scan of kind `folder`. */
  path: devicePathSchema.nullable(),
  wanted: z.enum(['run', 'pause', 'cancel']),
});
export type ScanJob = z.infer<typeof scanJobSchema>;

/** An order about a file in the device's quarantine, repeated until the device confirms it (`order_done`). */
const fileOrderSchema = z.object({ id: idSchema, finding_id: idSchema, action: z.enum(['restore', 'delete']) });
export type FileOrder = z.infer<typeof fileOrderSchema>;

/**
 * A file for which the person requested a second look. The device uploads it to `sendForSecondLook` if it reported the finding itself and the hash is unchanged.
 * The path is not sent, because the device knows it from the finding.
 */
const secondLookSchema = z.object({ id: idSchema, finding_id: idSchema, file_hash: sha256Schema });
export type SecondLook = z.infer<typeof secondLookSchema>;

/**
 * The signatures that the device should use: their version, and the hash and size of the file from `POST /agent/signatures`. The number increases with each change;
 * a device refuses a lower number than its own.
 */
export const signaturesSchema = z.object({
  number: z.int().min(1),
  version: lineSchema(100),
  sha256: sha256Schema,
  bytes: countSchema,
});
export type Signatures = z.infer<typeof signaturesSchema>;

export const desiredSchema = z.object({
  kind: z.literal('desired'),
  /** Increases with every change of `defaults`, `rules` or `block_list`. A device refuses a lower one than it has applied. */
  rev: z.int().min(1),
  /** SHA-256 in hex of `canonicalRules`. */
  hash: sha256Schema,
  defaults: defaultsSchema,
  /** Only enabled rules, in any order. */
  rules: z.array(deviceRuleSchema).max(DEVICE_RULES_MAXIMUM),
  /** Sources whose incoming packets are dropped. */
  block_list: z.array(blockEntrySchema).max(BLOCK_LIST_MAXIMUM),
  scan_jobs: z.array(scanJobSchema).max(JOBS_MAXIMUM),
  file_orders: z.array(fileOrderSchema).max(ORDERS_MAXIMUM),
  /** Files found here for which the person requested a second look. Servers of earlier versions do not send this. */
  second_looks: z.array(secondLookSchema).max(ORDERS_MAXIMUM).default([]),
  /** Folders that scans skip, and folders that are watched in addition to Downloads, Desktop and Documents. */
  exclusions: z.array(devicePathSchema).max(FOLDERS_MAXIMUM),
  watched: z.array(devicePathSchema).max(FOLDERS_MAXIMUM),
  is_watching: z.boolean(),
  signatures: signaturesSchema.nullable(),
  /**
   * Remote sessions of the device's person. `stock`: record the state of this computer once. `changes`: report what changed since, until it is noted. Servers of earlier
   * versions do not send this.
   */
  remote_sessions: z
    .array(z.object({ id: idSchema, wanted: z.enum(['stock', 'changes']) }))
    .max(MEASURED_SESSIONS_MAXIMUM)
    .default([]),
  /** Grants of the technician of a remote session on this computer's screen; the agent connects to `SCREEN_PATH` while it is not null (remote-control.ts). */
  control: z.object({ session_id: idSchema, input: z.boolean(), clipboard: z.boolean() }).nullable().default(null),
  /** The key of this device's DNS address (`/dns/{key}`); null if the person does not use web protection. Servers of earlier versions do not send this. */
  web_protection: z
    .object({ key: z.string().regex(/^[a-z2-7]{26}$/u) })
    .nullable()
    .default(null),
});
export type Desired = z.infer<typeof desiredSchema>;

/** The canonical text of a desired state's rules. Its SHA-256 is `hash`; server and agent compute the same text. */
export function canonicalRules({ defaults, rules, block_list }: Pick<Desired, 'defaults' | 'rules' | 'block_list'>): string {
  const sorted = rules.toSorted((a, b) => (a.id < b.id ? -1 : 1));
  return JSON.stringify([defaults.inbound, defaults.outbound, sorted.map(canonicalRule), block_list.toSorted()]);
}

export const ackStateSchema = z.enum(['trial', 'applied', 'rolled_back', 'rejected', 'unavailable']);
export type AckState = z.infer<typeof ackStateSchema>;

/** The result of a revision. A repeated one changes nothing. `trial`: applied, but the server is not yet known to be reachable. */
const ackSchema = z.object({
  kind: z.literal('ack'),
  rev: z.int().min(1),
  state: ackStateSchema,
  /** The revision in the kernel now; 0 if there is none. */
  applied_rev: countSchema,
  /** Reasons in sentences, with the id of the rule that the kernel refused, if one did. */
  errors: z.array(z.object({ rule_id: idSchema.nullable(), message: lineSchema(500) })).max(ERRORS_MAXIMUM),
});
export type Ack = z.infer<typeof ackSchema>;

/** Packets and bytes that a rule decided since `epoch`. */
const counterSchema = z.object({
  /** The id of a rule, or the direction whose default decided. */
  of: z.union([idSchema, directionSchema]),
  packets: countSchema,
  bytes: countSchema,
});
export type Counter = z.infer<typeof counterSchema>;

/** Incoming and outgoing packets dropped since the last confirmed report, by their remote end. */
const blockedSchema = z.object({
  direction: directionSchema,
  protocol: z.enum(['tcp', 'udp', 'icmp', 'other']),
  address: ipSchema,
  /** The destination port; null if there is none. */
  port: portSchema.nullable(),
  packets: countSchema,
  /** Times at which the first and the last of them were noticed. Agents of earlier versions do not send them. */
  first_at: timeSchema.optional(),
  last_at: timeSchema.optional(),
});
export type Blocked = z.infer<typeof blockedSchema>;

const listeningSchema = z.object({
  protocol: z.enum(['tcp', 'udp']),
  address: ipSchema,
  port: portSchema,
  program: lineSchema(100).nullable(),
});
export type Listening = z.infer<typeof listeningSchema>;

/** An open connection: `inbound` if the other end opened it. `port` is the destination port. */
const connectionSchema = z.object({
  direction: directionSchema,
  protocol: z.enum(['tcp', 'udp']),
  local: ipSchema,
  remote: ipSchema,
  port: portSchema,
  program: lineSchema(100).nullable(),
});
export type LiveConnection = z.infer<typeof connectionSchema>;

export const telemetrySchema = z.object({
  cpu_percent: percentSchema,
  memory_percent: percentSchema,
  memory_bytes: countSchema,
  /** Bytes per second over all interfaces except loopback, and their share of the capacity, if known. */
  network_in: countSchema,
  network_out: countSchema,
  network_percent: percentSchema.nullable(),
  uptime_s: countSchema,
  listening: z.array(listeningSchema).max(LISTENING_MAXIMUM),
  connections: z.array(connectionSchema).max(CONNECTIONS_MAXIMUM),
});
export type Telemetry = z.infer<typeof telemetrySchema>;

export const POSTURE_CHECKS = [
  'security_updates',
  'disk_encryption',
  'screen_lock',
  'ssh_settings',
  'firewall_default',
  'signatures_fresh',
] as const;
/** One security check. `unknown` if it could not run; then `evidence` gives the reason. */
export const postureSchema = z.object({
  check: z.enum(POSTURE_CHECKS),
  state: z.enum(['pass', 'fail', 'unknown']),
  evidence: lineSchema(500),
  checked_at: timeSchema,
});
export type Posture = z.infer<typeof postureSchema>;

/** A table of another program in the kernel. Its drops take precedence over every rule of Palisade. */
export const foreignTableSchema = z.object({ family: lineSchema(20), name: lineSchema(128), drops: z.boolean() });
export type ForeignTable = z.infer<typeof foreignTableSchema>;

/** Number of folders watched for new files, and the reason if the kernel does not watch all of them. */
export const watchingSchema = z.object({ folders: countSchema, reason: lineSchema(300).nullable() });

/** Health of the agent: reasons that keep it from checking files, shown to its person. */
export const agentHealthSchema = z.object({
  /** `stalled`: files wait, and none was read for two minutes. `off`: nothing is watched. */
  watcher: z.enum(['working', 'stalled', 'off']),
  /** More files changed at once than the agent can queue, last at `at`; `folders` must still be rescanned. Null some time after the last overflow. */
  overflow: z.object({ at: timeSchema, folders: countSchema }).nullable(),
  /** Number of new files that were not read completely since the agent started. */
  files_unread: countSchema,
  /** Number of workers of the agent that are blocked by a file system that does not respond. */
  workers_stuck: countSchema,
});
export type AgentHealth = z.infer<typeof agentHealthSchema>;

/** `open`: the agent receives the DNS queries, but the server does not answer, so the previous DNS servers do and nothing is refused. `failed`: the DNS settings are unchanged. */
export const webProtectionStateSchema = z.object({ state: z.enum(['on', 'open', 'failed']), reason: lineSchema(300).nullable() });
export type WebProtectionState = z.infer<typeof webProtectionStateSchema>;

const reportSchema = z.object({
  kind: z.literal('report'),
  /** Increases with every report since the agent started; the server confirms it in `noted`. */
  seq: countSchema,
  /** Time at which the counters last started at 0. Counters never decrease within an epoch. */
  epoch: timeSchema,
  counters: z.array(counterSchema).max(COUNTERS_MAXIMUM),
  blocked: z.array(blockedSchema).max(BLOCKED_MAXIMUM),
  /** Further dropped packets, of remote ends that `blocked` has no room for. */
  blocked_more: z.object({ packets: countSchema, first_at: timeSchema, last_at: timeSchema }).optional(),
  /**
   * The part of the agent's log of dropped packets that `blocked` and `blocked_more` contain. A part is sent unchanged until a report with it is noted. Numbers increase
   * within a log, and each part counts once. If it is absent (earlier versions), every report counts.
   */
  blocked_part: z.object({ log: instanceSchema, number: z.int().min(1) }).optional(),
  telemetry: telemetrySchema.nullable(),
  posture: z.array(postureSchema).max(POSTURE_CHECKS.length),
  foreign_tables: z.array(foreignTableSchema).max(TABLES_MAXIMUM),
  /** Null if nothing is watched; agents of earlier versions do not send it. */
  watching: watchingSchema.nullable().default(null),
  /** Agents of earlier versions do not send it. */
  health: agentHealthSchema.nullable().default(null),
  /** Null if it is not requested; agents of earlier versions do not send it. */
  web_protection: webProtectionStateSchema.nullable().default(null),
});
export type Report = z.infer<typeof reportSchema>;

/** Events on a device that its person should know about. Repeated with the same `id` until `noted`. */
const deviceEventSchema = z.discriminatedUnion('event', [
  /** Another program changed or deleted our table, and the agent restored it. `backed_off`: it happens so often that the agent waits before it restores the table. */
  z.object({ event: z.literal('tampered'), backed_off: z.boolean() }),
  /** Failed SSH sign-ins from one address within ten minutes. `blocked` only if a rule of Palisade dropped packets from it. */
  z.object({ event: z.literal('ssh_guessing'), address: ipSchema, failures: z.int().min(1), blocked: z.boolean() }),
  z.object({ event: z.literal('new_listening_port'), listening: listeningSchema }),
  /** The file order `order_id` was carried out, or failed for the reason in `message`. */
  z.object({ event: z.literal('order_done'), order_id: idSchema, ok: z.boolean(), message: lineSchema(300).nullable() }),
  /** Changes on the computer during a remote session. */
  z.object({ event: z.literal('session_changes'), session_id: idSchema, measured: measuredChangesSchema }),
]);
export type DeviceEvent = z.infer<typeof deviceEventSchema>;

const eventSchema = z.object({ kind: z.literal('event'), id: idSchema, at: timeSchema, event: deviceEventSchema });

/** An infected file. */
const foundSchema = z.object({
  /** An id that the device assigns to the finding and to its copy in quarantine. Sent again until it is `noted`. */
  id: idSchema,
  path: devicePathSchema,
  file_hash: sha256Schema,
  size: countSchema,
  threat: lineSchema(300),
  /** The user id (number) of the file's owner on the system. Agents of earlier versions do not send it. */
  owner: countSchema.optional(),
  /** The infected file within an archive. */
  member: lineSchema(PATH_LENGTH_MAXIMUM).nullable(),
  found_at: timeSchema,
  /** `left`: the file was not moved, for `reason` (such as a full disk). */
  outcome: z.enum(['quarantined', 'left']),
  reason: lineSchema(300).nullable(),
});
export type Found = z.infer<typeof foundSchema>;

export const scanProgressOnDeviceSchema = z.object({
  files_read: countSchema,
  /** Unchanged files with a known verdict. */
  files_known: countSchema,
  /** Files that were not read completely: encrypted, damaged, too large, without permission, or deleted during the scan. */
  files_pending: countSchema,
  /** Folders that could not be read; their files are not counted. Agents of earlier versions do not send it. */
  folders_unread: countSchema.default(0),
  /** Number of files found to read so far; final once `is_counted`. */
  files_total: countSchema,
  is_counted: z.boolean(),
  bytes_read: countSchema,
  bytes_per_second: countSchema,
  seconds_left: countSchema.nullable(),
  /** The file that is being read. */
  path: z.string().max(PATH_LENGTH_MAXIMUM).nullable(),
});
export type ScanProgressOnDevice = z.infer<typeof scanProgressOnDeviceSchema>;

export const deviceScanStateSchema = z.enum(['queued', 'running', 'paused', 'waiting', 'done', 'cancelled', 'failed']);
export type DeviceScanState = z.infer<typeof deviceScanStateSchema>;

/** `job_id` is null for findings of real-time watching and for scans that were started on the device. */
const scanReportSchema = z.object({
  kind: z.literal('scan_report'),
  seq: countSchema,
  job_id: idSchema.nullable(),
  scan: z.enum([...scanKindSchema.options, 'watch']),
  state: deviceScanStateSchema,
  /** The reason why it waits (battery, load) or failed. */
  reason: lineSchema(300).nullable(),
  /** Time of the event. A report may arrive days later. Agents of earlier versions do not send it. */
  at: timeSchema.optional(),
  signatures_version: lineSchema(100),
  progress: scanProgressOnDeviceSchema,
  found: z.array(foundSchema).max(FINDINGS_MAXIMUM),
});
export type ScanReport = z.infer<typeof scanReportSchema>;

const helloSchema = z.object({
  kind: z.literal('hello'),
  device_id: idSchema,
  token: deviceTokenSchema,
  instance: instanceSchema,
  agent_version: lineSchema(40),
  applied_rev: countSchema,
  /** `desired.hash` of the rules in the kernel; null if there are none. */
  ruleset_hash: sha256Schema.nullable(),
  capabilities: capabilitiesSchema,
  /** The device's clock; the server derives its skew from it. */
  at: timeSchema,
});
export type Hello = z.infer<typeof helloSchema>;

export const saidSchema = z.discriminatedUnion('kind', [ackSchema, reportSchema, eventSchema, scanReportSchema]);
export type Said = z.infer<typeof saidSchema>;

export const toldSchema = z.discriminatedUnion('kind', [
  z.object({ kind: z.literal('welcome'), at: timeSchema, heartbeat_ms: z.int().min(1) }),
  desiredSchema,
  /** The server stored the report `seq` with all its findings, and the events `events`. */
  z.object({ kind: z.literal('noted'), seq: countSchema.nullable(), events: z.array(idSchema).max(ORDERS_MAXIMUM) }),
  /** The agent replies with `pong`. */
  z.object({ kind: z.literal('ping') }),
]);
export type Told = z.infer<typeof toldSchema>;

export const AGENT_CLOSED = {
  ...CLOSED,
  /** Another agent with this identity is connected; that connection stays open. */
  in_use: 4409,
  /** The token is invalid. The agent confirms this over HTTP before it acts on it. */
  revoked: 4410,
} as const;

export const agentChannel = channel({
  path: AGENT_PATH,
  hello: helloSchema,
  said: saidSchema,
  told: toldSchema,
  hello_bytes: 4 * 1024,
  frame_bytes: SAID_BYTES_MAXIMUM,
  frames_per_heartbeat: 120,
});

/** Characters of an enrolment code, 5 bits each, without those that look alike in handwriting (0, O, 1, I). */
export const ENROLMENT_ALPHABET = 'ABCDEFGHJKLMNPQRSTUVWXYZ23456789';
export const ENROLMENT_CODE_LENGTH = 10;
/** Lifetime of a code, in ms. A code can be used once. */
export const ENROLMENT_LIFETIME = 10 * 60_000;
/** Maximum number of wrong codes per source and first character within `ENROLMENT_LIFETIME`; further codes with that first character are refused. */
export const ENROLMENT_TRIES = 5;
const ENROLMENT_CODE = new RegExp(`^[${ENROLMENT_ALPHABET}]{${ENROLMENT_CODE_LENGTH}}$`, 'u');
export const enrolmentCodeSchema = z
  .string({ error: 'Enter the enrollment code.' })
  .max(64, 'An enrollment code has 10 letters and digits.')
  .transform((typed) => typedCode(typed).toUpperCase().replaceAll('-', ''))
  .refine((code) => ENROLMENT_CODE.test(code), 'An enrollment code has 10 letters and digits, like K7M4Q-P9XDA.');

/** The fingerprint of a device's key on screens and in the agent: the first half of its SHA-256 (hex), in groups for comparison. */
export function fingerprintOf(sha256: string): string {
  return (sha256.slice(0, 32).toUpperCase().match(/.{4}/gu) ?? []).join(' ');
}

export const enrolDevice = endpoint({
  method: 'POST',
  path: '/agent/enrol',
  summary: 'Make a computer a device of the person whose enrolment code it has. The token is answered once.',
  access: 'anyone',
  body: z.object({
    code: enrolmentCodeSchema,
    hostname: lineSchema(253),
    os: osSchema,
    /** The agent's Ed25519 public key (SPKI, base64). A computer that enrols again with the same key is the same device, and its older token becomes invalid. */
    public_key: z.base64().max(200),
    agent_version: lineSchema(40),
  }),
  expensive: true,
  status: 201,
  reply: z.object({ device_id: idSchema, token: deviceTokenSchema, device_name: z.string() }),
  problems: ['enrolment_expired', 'device_limit'],
});

/** Fields in the body of every later call of an agent. A revoked or unknown device receives 401 `device_revoked`. */
const identitySchema = z.object({ device_id: idSchema, token: deviceTokenSchema });

export const verifyDevice = endpoint({
  method: 'POST',
  path: '/agent/verify',
  summary:
    'Answer a nonce to a device, which asks over a connection of its own whether a trial revision lets it reach the server.',
  access: 'anyone',
  by_device: true,
  body: identitySchema.extend({ nonce: z.string().regex(/^[0-9a-f]{32}$/u) }),
  reply: z.object({ nonce: z.string(), at: timeSchema }),
  problems: ['device_revoked'],
});

export const pollAgent = endpoint({
  method: 'POST',
  path: '/agent/poll',
  summary: 'Where no WebSocket passes: what the agent says, answered with what it is told, after 25 seconds at most.',
  access: 'anyone',
  by_device: true,
  body: z.object({ hello: helloSchema, said: z.array(saidSchema).max(FRAMES_OF_A_POLL) }),
  // One reply for each frame, after the welcome and the desired state.
  reply: z.object({ told: z.array(toldSchema).max(FRAMES_OF_A_POLL + 2) }),
  problems: ['device_revoked', 'device_in_use'],
});

export const downloadSignatures = endpoint({
  method: 'POST',
  path: '/agent/signatures',
  summary: 'The signatures that devices use, as one file whose hash `desired` has.',
  access: 'anyone',
  by_device: true,
  body: identitySchema.extend({ version: lineSchema(100) }),
  download: true,
  problems: ['device_revoked', 'not_found'],
});

/** The header `Authorization: Bearer` carries the device's token, and the body is the file. */
export const sendForSecondLook = endpoint({
  method: 'POST',
  path: '/agent/second-look',
  summary:
    'Send a file that a device has found, in the multipart field "file", because its person asked for a second look. Another file than the one that was found is refused. The device proves itself by its token in the header `Authorization`.',
  access: 'anyone',
  by_device: true,
  query: z.object({ device_id: idSchema, order_id: idSchema }),
  upload: 'file',
  status: 201,
  /** The id of the scan. */
  reply: z.object({ id: idSchema }),
  problems: [
    'device_revoked',
    'not_found',
    'conflict',
    'unsupported_media_type',
    'too_large',
    'upload_stalled',
    'upload_cancelled',
    'unavailable',
  ],
});

/** `palisade-agent uninstall` removes the device. */
export const leaveDevice = endpoint({
  method: 'POST',
  path: '/agent/leave',
  summary: 'Revoke the device that asks, because the agent is taken off its computer.',
  access: 'anyone',
  by_device: true,
  body: identitySchema,
  problems: ['device_revoked'],
});
