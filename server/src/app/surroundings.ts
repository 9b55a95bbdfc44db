import type { ScanLimits } from '@palisade/scanner/limits';
import type { EngineMemory } from '@palisade/scanner/process-memory';
import type { ScannerAddress } from '@palisade/scanner/scanner-url';
import type { YaraPool } from '@palisade/scanner/yara-pool';
import type { FastifyBaseLogger } from 'fastify';
import type { ArrivalLimits } from '#features/antivirus/arrivals.ts';
import type { FetchLimits } from '#features/antivirus/fetch-feed.ts';
import type { MatchHash } from '#features/antivirus/known-hashes.ts';
import type { UploadLimits } from '#features/antivirus/receive.ts';
import type { Zone } from '#features/chat/mail-proof.ts';
import type { openMailbox } from '#features/chat/mailbox.ts';
import type { SocketLimits } from '#platform/channels/serve-socket.ts';
import type { ConnectionLimits } from '#platform/connections.ts';
import type { DatabaseLocation } from '#platform/database.ts';
import type { FreeBytes } from '#platform/disk.ts';
import type { PatienceLimits } from '#platform/http.ts';
import type { Settings } from '#platform/settings.ts';

/** What surrounds the application: settings, where things lie, the clock, the log. */
export interface Surroundings {
  settings: Settings;
  database: DatabaseLocation;
  /** How long a connection to PostgreSQL is kept that nobody needs, in ms: 5 minutes where it is left out. Tests have many servers beside each other. */
  database_idle_ms?: number;
  /** `server/signatures`. */
  signatures_folder: string;
  /** The table of leaked passwords that `scripts/leaked-passwords.mjs` makes. */
  leaked_passwords: string;
  /** The built web application. */
  web_folder: string;
  /** What `scripts/agent-package.mjs` builds for devices. */
  agent_folder: string;
  logger: FastifyBaseLogger;
  now?: () => number;
  scan_limits?: ScanLimits;
  engine_memory?: EngineMemory;
  upload_limits?: Partial<UploadLimits>;
  arrival_limits?: ArrivalLimits;
  /** Bytes of one person that are kept sealed. */
  quarantine_quota?: number;
  /** How much room a disk has. */
  free_bytes?: FreeBytes;
  events_limits?: SocketLimits;
  patience?: PatienceLimits;
  connection_limits?: ConnectionLimits;
  /** How often the server looks for new signatures, in ms. */
  signatures_look_ms?: number;
  feed_limits?: FetchLimits;
  engine_processes?: number;
  /** In place of the YARA-X processes. */
  embedded_engine?: YaraPool;
  scan_retry_ms?: number;
  /** How long a small file may be read before it is recorded, in ms. */
  scan_record_ms?: number;
  /** What is known of files by their SHA-256 alone. */
  match_hash?: MatchHash;
  /** Where a clamd is looked for that nobody named; nowhere where nothing is said, so that no test finds one of the machine. */
  usual_scanners?: readonly ScannerAddress[];
  /** How long a clamd that was found may be away before it is let go, in ms. */
  scanner_let_go_ms?: number;
  /** How often each clamd is looked at, in ms. */
  scanner_look_ms?: number;
  /** What drills are drawn with: from 0 up to, not including, 1. */
  random?: () => number;
  mail_look_ms?: number;
  /** How a sign-in that has to wait does so. */
  pause?: (ms: number) => Promise<void>;
  /** Servers of a test share a PostgreSQL without what servers need between them. */
  shares_database?: true;
  /** How often recurring jobs are done in place of what their kinds say, by the names of these, in ms. */
  every_ms?: Readonly<Record<string, number>>;
  /** How long it is waited until it is told that somebody of the staff has come or gone, in ms. */
  presence_pause_ms?: number;
  /** Records in place of the DNS, where it is asked who may send a mail; and a mailbox in place of the one of the settings. */
  mail_zone?: Zone;
  open_mailbox?: typeof openMailbox;
  /** A push service of a test, by its origin: every other one is a browser's. */
  push_service?: string;
  /** How long one scam check may take, in ms. */
  scam_check_ms?: number;
  /** How long a customer has to read an answer before they are told by mail, in ms. */
  unread_answer_ms?: number;
  /** How long an administrator can take a decision back before its person is written to, in ms. */
  false_alarm_told_ms?: number;
  /** How long an agent's call waits for something to be told, and how often its socket is asked whether it lives, in ms. */
  poll_wait_ms?: number;
  agent_heartbeat_ms?: number;
  /** How often detection keeps the volumes that this server has counted, in ms. */
  volumes_fold_ms?: number;
}
