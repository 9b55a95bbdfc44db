import type { AuditTables } from './audit.ts';
import type { InstallationTables } from './installation.ts';
import type { JobTables } from './jobs/job-tables.ts';
import type { ServerTables } from './live-servers.ts';
import type { MailTables } from './mail.ts';
import type { SessionTables } from './session.ts';

/** All tables; each is written by one feature only. Each feature adds its own in its `.tables.ts`. */
export interface Tables extends AuditTables, InstallationTables, JobTables, MailTables, ServerTables, SessionTables {}
