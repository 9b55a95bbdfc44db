import type { Ask } from '@palisade/names/upstream';
import type { ScanLimits } from '@palisade/scanner/limits';
import type { EngineMemory } from '@palisade/scanner/process-memory';
import type { ScannerAddress } from '@palisade/scanner/scanner-url';
import type { YaraPool } from '@palisade/scanner/yara-pool';
import type { FastifyBaseLogger } from 'fastify';
import type { FetchLimits } from '#features/antivirus/fetch-feed.ts';
import type { MatchHash } from '#features/antivirus/known-hashes.ts';
import type { UploadLimits } from '#features/antivirus/receive.ts';
import type { UploadAdmissionLimits } from '#features/antivirus/upload-admission.ts';
import type { Zone } from '#features/chat/mail-proof.ts';
import type { openMailbox } from '#features/chat/mailbox.ts';
import type { readMail } from '#features/chat/read-mail.ts';
import type { SocketLimits } from '#platform/channels/channel-service.ts';
import type { ConnectionLimits } from '#platform/connections.ts';
import type { DatabaseLocation } from '#platform/database.ts';
import type { FreeBytes } from '#platform/disk.ts';
import type { PatienceLimits } from '#platform/http.ts';
import type { Settings } from '#platform/settings.ts';

/** Options of the application: settings, locations, the clock, the log. */
export interface AppOptions {
  settings: Settings;
  database: DatabaseLocation;
  /** Time for which an idle connection to PostgreSQL is kept, in ms: 5 minutes by default. Tests have many servers beside each other. */
  database_idle_ms?: number;
  /** `server/signatures`. */
  signatures_folder: string;
  /** The table of leaked passwords that `scripts/leaked-passwords.mjs` makes. */
  leaked_passwords: string;
  /** The built web application. */
  web_folder: string;
  /** The agent's packages, built by `scripts/agent-package.mjs`. */
  agent_folder: string;
  logger: FastifyBaseLogger;
  now?: () => number;
  scan_limits?: ScanLimits;
  engine_memory?: EngineMemory;
  upload_limits?: Partial<UploadLimits>;
  admission_limits?: UploadAdmissionLimits;
  /** Bytes of one person that are kept sealed. */
  quarantine_quota?: number;
  /** Free space of a disk. */
  free_bytes?: FreeBytes;
  events_limits?: SocketLimits;
  patience?: PatienceLimits;
  connection_limits?: ConnectionLimits;
  /** Interval between looks for new signatures, in ms. */
  signatures_look_ms?: number;
  feed_limits?: FetchLimits;
  engine_processes?: number;
  /** In place of the YARA-X processes. */
  embedded_engine?: YaraPool;
  scan_retry_ms?: number;
  /** Time that a small file may be read before it is recorded, in ms. */
  scan_record_ms?: number;
  /** Looks a file up by its SHA-256 alone. */
  match_hash?: MatchHash;
  /** Usual places of a clamd without a setting; none by default, so that no test finds one of the machine. */
  usual_scanners?: readonly ScannerAddress[];
  /** Time that a clamd that was found may be away before it is let go, in ms. */
  scanner_let_go_ms?: number;
  /** Interval between health checks of each clamd, in ms. */
  scanner_look_ms?: number;
  /** Random numbers for drills: from 0 up to, not including, 1. */
  random?: () => number;
  mail_look_ms?: number;
  /** Delays a sign-in that has to wait. */
  pause?: (ms: number) => Promise<void>;
  /** Servers of a test share a PostgreSQL without the settings that several servers need. */
  shares_database?: true;
  /** Intervals of recurring jobs by kind, in place of their own, in ms. */
  every_ms?: Readonly<Record<string, number>>;
  /** Delay before a change of staff presence is reported, in ms. */
  presence_pause_ms?: number;
  /** Records in place of the DNS, where it is asked who may send a mail; and a mailbox in place of the one of the settings. */
  mail_zone?: Zone;
  open_mailbox?: typeof openMailbox;
  /** Reads an arrived mail, in place of a thread of its own. */
  read_mail?: typeof readMail;
  /** A push service of a test, by its origin: every other one is a browser's. */
  push_service?: string;
  /** In place of the name servers of the settings. */
  name_servers?: readonly Ask[];
  /** Time for one scam check, in ms. */
  scam_check_ms?: number;
  /** Time that a customer has to read an answer before a mail is sent, in ms. */
  unread_answer_ms?: number;
  /** Time that an administrator has to take a decision back before its person is written to, in ms. */
  false_alarm_told_ms?: number;
  /** Time that an agent's call waits for a message, and the interval of heartbeats on its socket, in ms. */
  poll_wait_ms?: number;
  agent_heartbeat_ms?: number;
  /** Interval at which detection stores the volumes that this server has counted, in ms. */
  volumes_fold_ms?: number;
}
