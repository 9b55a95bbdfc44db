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
 * Frames between the server and the agent on a person's computer. The agent opens one socket, `WS /api/agent/socket` (channel.ts has the mechanism), and says
 * `hello`; the server answers `welcome` and the whole `desired` state, and tells it again whenever it changes. Where no WebSocket passes, the same frames go through
 * `POST /agent/poll`. All times are ISO times of the clock of who says them; `welcome.at` and `hello.at` tell how far the two clocks are apart.
 */
export const AGENT_PATH = '/agent/socket';

/** Interval at which the server sends `ping` on this channel, and of the agent's reports, in ms. */
export const AGENT_HEARTBEAT_MS = 20_000;
export const REPORT_INTERVAL_MS = 30_000;
/** Time for a trial revision to prove that the server is still reachable over a new connection, in ms. */
export const TRIAL_MS = 30_000;
/** For how long the server must say `device_revoked` before the agent takes its own table away, in ms. */
export const REVOKED_GRACE_MS = 10 * 60_000;
/** Longest wait of `POST /agent/poll`, in ms. */
export const POLL_WAIT_MS = 25_000;

/** Rules that reach one device, and addresses on its block list. */
export const DEVICE_RULES_MAXIMUM = 1_000;
export const BLOCK_LIST_MAXIMUM = 10_000;
/** The largest frame that an agent reads: 1,000 rules of the longest fields, and a full block list. Bytes. */
export const TOLD_BYTES_MAXIMUM = 16 * 1024 ** 2;
/** The largest frame that an agent may say. Bytes. */
export const SAID_BYTES_MAXIMUM = 256 * 1024;
/** Counters, sources, ports and the like in one frame. */
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
/** Length of a path on a device, in characters: PATH_MAX bytes of Linux (4,096), each of which may take four characters as an escape. */
export const PATH_LENGTH_MAXIMUM = 16_384;

/** One line that a device says of itself. It is foreign text: markup in it is text, and control characters are refused. */
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
 * An absolute path. It may hold any character that a file system takes but NUL, line breaks too. Names on a device are bytes: a byte that is not part of valid UTF-8 is
 * written as `\x` and two lower-case hexadecimal digits, and a backslash as `\x5c` where it would otherwise begin such an escape. It is shown as it is written.
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
/** 32 random bytes in hex: what a device proves itself with. The server keeps its SHA-256 alone. */
export const deviceTokenSchema = z.string().regex(/^[0-9a-f]{64}$/u, 'This isn’t a device token.');
/** 16 random bytes in hex, new for each run of an agent: the same run may reconnect before its old socket is found dead, another one may not. */
const instanceSchema = z.string().regex(/^[0-9a-f]{32}$/u);

export const osSchema = z.object({
  platform: z.enum(['linux', 'darwin', 'windows', 'other']),
  /** The system's own name for itself, e.g. `Debian GNU/Linux 12 (bookworm)`. */
  name: lineSchema(200),
  arch: lineSchema(40),
});
export type Os = z.infer<typeof osSchema>;

/** Abilities of an agent on its computer, with the reason for each missing one. */
export const capabilitiesSchema = z.object({
  /** `unavailable`: no rule is enforced on this computer, for `firewall_reason`. */
  firewall: z.enum(['nftables', 'unavailable']),
  firewall_reason: lineSchema(300).nullable(),
  /** Live connections that a new block forbids are cut at once. */
  conntrack: z.boolean(),
  scanner: z.boolean(),
  scanner_reason: lineSchema(300).nullable(),
  watch: z.boolean(),
  /** The computer’s screen can be shared and controlled. Agents of earlier versions do not send it. */
  control: z.boolean().default(false),
  control_reason: lineSchema(300).nullable().default('The agent on this device is out of date. Update it.'),
  /** A file that was found here can be sent to the server for a second look. Agents of earlier versions do not say it. */
  second_look: z.boolean().default(false),
  second_look_reason: lineSchema(300).nullable().default('The agent on this device is out of date. Update it.'),
  /** Containers run here: rules do not cover their outgoing traffic. */
  containers: z.boolean(),
  /** Reads rules as traffic (device-rule.ts). Agents of earlier versions do not say it, and get what a person typed. */
  parsed_rules: z.boolean().default(false),
});
export type Capabilities = z.infer<typeof capabilitiesSchema>;

export const defaultsSchema = z.object({ inbound: actionSchema, outbound: actionSchema });
export type Defaults = z.infer<typeof defaultsSchema>;
/** The fields of an enrolment. */
export const ENROLLED_DEFAULTS: Defaults = { inbound: 'allow', outbound: 'allow' };

/** Entries of a block list: one address, network or range each, by the grammar of firewall-grammar.ts. */
const blockEntrySchema = z
  .string()
  .max(100)
  .refine((text) => {
    const read = readAddresses(text);
    return read.ok && read.value.family !== null && read.value.spans.length === 1;
  }, 'Enter an address, a network, or a range.');

export const scanKindSchema = z.enum(['quick', 'full', 'folder']);
export type ScanKind = z.infer<typeof scanKindSchema>;
/** An order to start or end a scan. One that is done or failed is no longer told. */
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
 * A file that its person wants a second look at: the device uploads it to `sendForSecondLook`, if it has found it itself and it still has this hash. No path is said:
 * the device knows where it found what it found.
 */
const secondLookSchema = z.object({ id: idSchema, finding_id: idSchema, file_hash: sha256Schema });
export type SecondLook = z.infer<typeof secondLookSchema>;

/**
 * The signatures that the device is to use: their version, and the hash and size of the file that `POST /agent/signatures` answers. The number rises with each change: a
 * device takes none that is lower than its own.
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
  /** Increases with every change of `defaults`, `rules` or `block_list`. A device refuses one that is lower than the applied one. */
  rev: z.int().min(1),
  /** SHA-256 in hex of `canonicalRules`. */
  hash: sha256Schema,
  defaults: defaultsSchema,
  /** Enabled rules alone, in any order. */
  rules: z.array(deviceRuleSchema).max(DEVICE_RULES_MAXIMUM),
  /** Sources whose incoming packets are dropped. */
  block_list: z.array(blockEntrySchema).max(BLOCK_LIST_MAXIMUM),
  scan_jobs: z.array(scanJobSchema).max(JOBS_MAXIMUM),
  file_orders: z.array(fileOrderSchema).max(ORDERS_MAXIMUM),
  /** Files that were found here and that their person has asked to have looked at again by the server. Servers of earlier versions do not say it. */
  second_looks: z.array(secondLookSchema).max(ORDERS_MAXIMUM).default([]),
  /** Folders that no scan enters, and folders that are watched beside Downloads, Desktop and Documents. */
  exclusions: z.array(devicePathSchema).max(FOLDERS_MAXIMUM),
  watched: z.array(devicePathSchema).max(FOLDERS_MAXIMUM),
  is_watching: z.boolean(),
  signatures: signaturesSchema.nullable(),
  /**
   * Remote sessions of its person: of one that runs it takes stock of itself, once; of one that is over it says what changed since, until that is noted. Servers of earlier
   * versions do not say it.
   */
  remote_sessions: z
    .array(z.object({ id: idSchema, wanted: z.enum(['stock', 'changes']) }))
    .max(MEASURED_SESSIONS_MAXIMUM)
    .default([]),
  /** Grants of the technician of a remote session on this computer's screen: the agent dials `SCREEN_PATH` while it says so (remote-control.ts). */
  control: z.object({ session_id: idSchema, input: z.boolean(), clipboard: z.boolean() }).nullable().default(null),
  /** By which key this device asks the server for names (`/dns/{key}`); null where its person does not want web protection. Servers of earlier versions do not say it. */
  web_protection: z
    .object({ key: z.string().regex(/^[a-z2-7]{26}$/u) })
    .nullable()
    .default(null),
});
export type Desired = z.infer<typeof desiredSchema>;

/** The canonical text whose SHA-256 is the hash of a desired state's rules, the same on both sides. */
export function canonicalRules({ defaults, rules, block_list }: Pick<Desired, 'defaults' | 'rules' | 'block_list'>): string {
  const sorted = rules.toSorted((a, b) => (a.id < b.id ? -1 : 1));
  return JSON.stringify([defaults.inbound, defaults.outbound, sorted.map(canonicalRule), block_list.toSorted()]);
}

export const ackStateSchema = z.enum(['trial', 'applied', 'rolled_back', 'rejected', 'unavailable']);
export type AckState = z.infer<typeof ackStateSchema>;

/** The result of a revision. Repeating it changes nothing. `trial`: applied, but not yet proved. */
const ackSchema = z.object({
  kind: z.literal('ack'),
  rev: z.int().min(1),
  state: ackStateSchema,
  /** The revision in the kernel now; 0 for none. */
  applied_rev: countSchema,
  /** Why, in sentences; with the rule that the kernel refused, where it is one. */
  errors: z.array(z.object({ rule_id: idSchema.nullable(), message: lineSchema(500) })).max(ERRORS_MAXIMUM),
});
export type Ack = z.infer<typeof ackSchema>;

/** Packets and bytes that a rule decided since `epoch`. */
const counterSchema = z.object({
  /** A rule's id, or the direction whose default decided. */
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
  /** When the first and the last of them were noticed. Agents of earlier versions do not say it: since the report before. */
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

/** An open connection: `inbound` when the other end opened it. `port` is the one that was connected to. */
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
  /** Bytes per second over all interfaces except loopback, and the share of their capacity, if known. */
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
/** One thing that was looked at. `unknown` where it could not be, with the reason as evidence. */
export const postureSchema = z.object({
  check: z.enum(POSTURE_CHECKS),
  state: z.enum(['pass', 'fail', 'unknown']),
  evidence: lineSchema(500),
  checked_at: timeSchema,
});
export type Posture = z.infer<typeof postureSchema>;

/** A table of another program in the kernel. A drop there wins over every rule of Palisade. */
export const foreignTableSchema = z.object({ family: lineSchema(20), name: lineSchema(128), drops: z.boolean() });
export type ForeignTable = z.infer<typeof foreignTableSchema>;

/** Folders that are watched for new files now, and why not more where the kernel watches no more. */
export const watchingSchema = z.object({ folders: countSchema, reason: lineSchema(300).nullable() });

/** Health of the agent: reasons that keep it from checking files, shown to its person. */
export const agentHealthSchema = z.object({
  /** `stalled`: files wait, and none was read for two minutes. `off`: nothing is watched. */
  watcher: z.enum(['working', 'stalled', 'off']),
  /** More files changed at once than the agent can keep in mind, last at `at`; `folders` are still to be read again for it. Null once that is long over. */
  overflow: z.object({ at: timeSchema, folders: countSchema }).nullable(),
  /** New files that could not be read whole since the agent started. */
  files_unread: countSchema,
  /** Reads of file systems that do not answer and hold a worker of the agent. */
  workers_stuck: countSchema,
});
export type AgentHealth = z.infer<typeof agentHealthSchema>;

/** `open`: the agent receives this computer's DNS queries but the server does not answer: the previous DNS servers do, and nothing is refused. `failed`: the DNS settings are unchanged. */
export const webProtectionStateSchema = z.object({ state: z.enum(['on', 'open', 'failed']), reason: lineSchema(300).nullable() });
export type WebProtectionState = z.infer<typeof webProtectionStateSchema>;

const reportSchema = z.object({
  kind: z.literal('report'),
  /** Rises with every report of this agent's start; the server answers `noted` with it. */
  seq: countSchema,
  /** When the counters last began at 0. Counters never fall within an epoch. */
  epoch: timeSchema,
  counters: z.array(counterSchema).max(COUNTERS_MAXIMUM),
  blocked: z.array(blockedSchema).max(BLOCKED_MAXIMUM),
  /** Packets beside those of `blocked`, of more others than are named. */
  blocked_more: z.object({ packets: countSchema, first_at: timeSchema, last_at: timeSchema }).optional(),
  /**
   * Which part of an agent's log of dropped packets `blocked` and `blocked_more` are. A part is said again as it is, whatever happens meanwhile, until a report with it is
   * noted; numbers of one log rise, and each counts once. Of agents that do not say it each report counts.
   */
  blocked_part: z.object({ log: instanceSchema, number: z.int().min(1) }).optional(),
  telemetry: telemetrySchema.nullable(),
  posture: z.array(postureSchema).max(POSTURE_CHECKS.length),
  foreign_tables: z.array(foreignTableSchema).max(TABLES_MAXIMUM),
  /** Null if nothing is watched; agents of earlier versions do not send it. */
  watching: watchingSchema.nullable().default(null),
  /** Agents of earlier versions do not say it. */
  health: agentHealthSchema.nullable().default(null),
  /** Null if it is not requested; agents of earlier versions do not send it. */
  web_protection: webProtectionStateSchema.nullable().default(null),
});
export type Report = z.infer<typeof reportSchema>;

/** Events on a device that its person should know about. Repeated with the same `id` until `noted`. */
const deviceEventSchema = z.discriminatedUnion('event', [
  /** Our table was changed or taken away by another program, and put back. `backed_off`: it happens so often that the agent waits. */
  z.object({ event: z.literal('tampered'), backed_off: z.boolean() }),
  /** Failed sign-ins by SSH from one address within ten minutes. `blocked` only if a rule of Palisade dropped packets of that address. */
  z.object({ event: z.literal('ssh_guessing'), address: ipSchema, failures: z.int().min(1), blocked: z.boolean() }),
  z.object({ event: z.literal('new_listening_port'), listening: listeningSchema }),
  /** `order_id`: a file order was carried out, or could not be (`message`). */
  z.object({ event: z.literal('order_done'), order_id: idSchema, ok: z.boolean(), message: lineSchema(300).nullable() }),
  /** Changes on the computer during a remote session. */
  z.object({ event: z.literal('session_changes'), session_id: idSchema, measured: measuredChangesSchema }),
]);
export type DeviceEvent = z.infer<typeof deviceEventSchema>;

const eventSchema = z.object({ kind: z.literal('event'), id: idSchema, at: timeSchema, event: deviceEventSchema });

/** A file that was found. */
const foundSchema = z.object({
  /** The device's own id: of the finding, and of its copy in quarantine. Repeated until `noted`. */
  id: idSchema,
  path: devicePathSchema,
  file_hash: sha256Schema,
  size: countSchema,
  threat: lineSchema(300),
  /** The owner of the file, by the number that the system has for them. Agents of earlier versions do not say it. */
  owner: countSchema.optional(),
  /** The file in an archive that holds it. */
  member: lineSchema(PATH_LENGTH_MAXIMUM).nullable(),
  found_at: timeSchema,
  /** `left`: it lies where it was, for `reason` (no room on the disk, for one). */
  outcome: z.enum(['quarantined', 'left']),
  reason: lineSchema(300).nullable(),
});
export type Found = z.infer<typeof foundSchema>;

export const scanProgressOnDeviceSchema = z.object({
  files_read: countSchema,
  /** Files whose verdict was known from before and that have not changed. */
  files_known: countSchema,
  /** Files that were not read completely: encrypted, damaged, too large, without permission, or deleted in the meantime. */
  files_pending: countSchema,
  /** Folders that could not be read, so that the files in them are not counted. Agents of earlier versions do not say it. */
  folders_unread: countSchema.default(0),
  /** All that were found so far to read; final once `is_counted`. */
  files_total: countSchema,
  is_counted: z.boolean(),
  bytes_read: countSchema,
  bytes_per_second: countSchema,
  seconds_left: countSchema.nullable(),
  /** The file that is read now. */
  path: z.string().max(PATH_LENGTH_MAXIMUM).nullable(),
});
export type ScanProgressOnDevice = z.infer<typeof scanProgressOnDeviceSchema>;

export const deviceScanStateSchema = z.enum(['queued', 'running', 'paused', 'waiting', 'done', 'cancelled', 'failed']);
export type DeviceScanState = z.infer<typeof deviceScanStateSchema>;

/** `job_id` is null for what real-time watching found, and for a scan that was started on the device. */
const scanReportSchema = z.object({
  kind: z.literal('scan_report'),
  seq: countSchema,
  job_id: idSchema.nullable(),
  scan: z.enum([...scanKindSchema.options, 'watch']),
  state: deviceScanStateSchema,
  /** Why it waits (battery, load) or failed. */
  reason: lineSchema(300).nullable(),
  /** Time of the event, which may be reported days later. Agents of earlier versions do not send it. */
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
  /** `desired.hash` of the rules in the kernel; null for none. */
  ruleset_hash: sha256Schema.nullable(),
  capabilities: capabilitiesSchema,
  /** The device's clock now, from which the server tells its skew. */
  at: timeSchema,
});
export type Hello = z.infer<typeof helloSchema>;

export const saidSchema = z.discriminatedUnion('kind', [ackSchema, reportSchema, eventSchema, scanReportSchema]);
export type Said = z.infer<typeof saidSchema>;

export const toldSchema = z.discriminatedUnion('kind', [
  z.object({ kind: z.literal('welcome'), at: timeSchema, heartbeat_ms: z.int().min(1) }),
  desiredSchema,
  /** The report of the number `seq` was kept, with all that it found, and so were the events of `events`. */
  z.object({ kind: z.literal('noted'), seq: countSchema.nullable(), events: z.array(idSchema).max(ORDERS_MAXIMUM) }),
  /** To be answered with `pong`. */
  z.object({ kind: z.literal('ping') }),
]);
export type Told = z.infer<typeof toldSchema>;

export const AGENT_CLOSED = {
  ...CLOSED,
  /** Another agent with this identity is connected. No connection is closed for it. */
  in_use: 4409,
  /** The token is invalid. The agent confirms this over HTTP before it believes it. */
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

/** Characters of an enrolment code, 5 bits each. Those that look alike in handwriting are left out (0, O, 1, I). */
export const ENROLMENT_ALPHABET = 'ABCDEFGHJKLMNPQRSTUVWXYZ23456789';
export const ENROLMENT_CODE_LENGTH = 10;
/** Lifetime of a code, in ms; it is used once. */
export const ENROLMENT_LIFETIME = 10 * 60_000;
/** Maximum wrong codes per source and first character in `ENROLMENT_LIFETIME`; then codes with that first character are refused. */
export const ENROLMENT_TRIES = 5;
const ENROLMENT_CODE = new RegExp(`^[${ENROLMENT_ALPHABET}]{${ENROLMENT_CODE_LENGTH}}$`, 'u');
export const enrolmentCodeSchema = z
  .string({ error: 'Enter the enrollment code.' })
  .max(64, 'An enrollment code has 10 letters and digits.')
  .transform((typed) => typedCode(typed).toUpperCase().replaceAll('-', ''))
  .refine((code) => ENROLMENT_CODE.test(code), 'An enrollment code has 10 letters and digits, like K7M4Q-P9XDA.');

/** The fingerprint of a device's key as pages and the agent show it: the first half of its SHA-256 (hex), in groups that people compare. */
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
    /** An Ed25519 key of the installation (SPKI, base64). A computer that enrols again with the same key is the same device, and its older token becomes invalid. */
    public_key: z.base64().max(200),
    agent_version: lineSchema(40),
  }),
  expensive: true,
  status: 201,
  reply: z.object({ device_id: idSchema, token: deviceTokenSchema, device_name: z.string() }),
  problems: ['enrolment_expired', 'device_limit'],
});

/** Fields in the body of every later call of an agent. Of one that is revoked or unknown: 401 `device_revoked`. */
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
  // An answer for each frame, after the welcome and the desired state.
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

/** The header `Authorization: Bearer` has the device's token: the body is the file. */
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

/** An agent says good-bye for ever: `palisade-agent uninstall`. */
export const leaveDevice = endpoint({
  method: 'POST',
  path: '/agent/leave',
  summary: 'Revoke the device that asks, because the agent is taken off its computer.',
  access: 'anyone',
  by_device: true,
  body: identitySchema,
  problems: ['device_revoked'],
});
