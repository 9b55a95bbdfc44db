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

/** Options of the application. */
export interface AppOptions {
  settings: Settings;
  database: DatabaseLocation;
  /** Time for which an idle connection to PostgreSQL is kept, in ms; 5 minutes by default. Tests run many servers and shorten it. */
  database_idle_ms?: number;
  /** Path of `server/signatures`. */
  signatures_folder: string;
  /** Path of the table of leaked passwords, made by `scripts/leaked-passwords.mjs`. */
  leaked_passwords: string;
  /** Folder of the built web application. */
  web_folder: string;
  /** Folder of the agent's packages, built by `scripts/agent-package.mjs`. */
  agent_folder: string;
  logger: FastifyBaseLogger;
  now?: () => number;
  scan_limits?: ScanLimits;
  engine_memory?: EngineMemory;
  upload_limits?: Partial<UploadLimits>;
  admission_limits?: UploadAdmissionLimits;
  /** Maximum bytes of one person in the quarantine. */
  quarantine_quota?: number;
  /** Returns the free space of a disk, in bytes. */
  free_bytes?: FreeBytes;
  events_limits?: SocketLimits;
  patience?: PatienceLimits;
  connection_limits?: ConnectionLimits;
  /** Interval between checks for new signatures, in ms. */
  signatures_look_ms?: number;
  feed_limits?: FetchLimits;
  engine_processes?: number;
  /** Replaces the YARA-X processes. */
  embedded_engine?: YaraPool;
  scan_retry_ms?: number;
  /** Time for which a small file may be scanned before its record is stored, in ms. */
  scan_record_ms?: number;
  /** Finds a threat by a file's SHA-256. */
  match_hash?: MatchHash;
  /** Default addresses at which a clamd is searched without a setting. Empty by default, so that tests do not find a clamd of the machine. */
  usual_scanners?: readonly ScannerAddress[];
  /** Time after which a found clamd that no longer answers is dropped, in ms. */
  scanner_let_go_ms?: number;
  /** Interval between health checks of each clamd, in ms. */
  scanner_look_ms?: number;
  /** Random numbers for drills: from 0 up to, not including, 1. */
  random?: () => number;
  mail_look_ms?: number;
  /** Waits before a delayed sign-in. */
  pause?: (ms: number) => Promise<void>;
  /** Servers of a test share a PostgreSQL database without the settings that several servers need. */
  shares_database?: true;
  /** Intervals that replace those of recurring jobs, by kind, in ms. */
  every_ms?: Readonly<Record<string, number>>;
  /** Delay before a change of staff presence is reported, in ms. */
  presence_pause_ms?: number;
  /** Replaces DNS in the verification of mail senders; `open_mailbox` replaces the mailbox of the settings. */
  mail_zone?: Zone;
  open_mailbox?: typeof openMailbox;
  /** Parses a received mail; replaces the worker thread. */
  read_mail?: typeof readMail;
  /** Origin of a test's push service, which is allowed in addition to those of browsers. */
  push_service?: string;
  /** Replaces the DNS upstreams of the settings. */
  name_servers?: readonly Ask[];
  /** Time limit of one scam check, in ms. */
  scam_check_ms?: number;
  /** Delay before a mail about an unread answer is sent to the customer, in ms. */
  unread_answer_ms?: number;
  /** Delay before the person is notified of an administrator's decision, which can be undone until then, in ms. */
  false_alarm_told_ms?: number;
  /** Time that an agent's poll waits for a message, and the interval of heartbeats on its socket, in ms. */
  poll_wait_ms?: number;
  agent_heartbeat_ms?: number;
  /** Interval at which detection stores the event counts of this server, in ms. */
  volumes_fold_ms?: number;
}
