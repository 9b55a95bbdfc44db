import type { LiveSession } from '@palisade/contract/remote-record';
import type { Kysely } from 'kysely';
import type { Audit } from '#platform/audit.ts';
import type { Counters } from '#platform/counters.ts';
import type { Jobs } from '#platform/jobs/jobs.ts';
import type { ChangeTables } from './session-changes.ts';
import type { GrantDevice, People } from './session-rows.ts';

export interface RemoteOptions {
  database: Kysely<ChangeTables>;
  audit: Pick<Audit, 'record'>;
  jobs: Pick<Jobs, 'handle' | 'enqueue' | 'enqueueAll' | 'wake'>;
  counters: Pick<Counters, 'put' | 'remove'>;
  people: People;
  /** Called with a session that has changed. */
  onLive: (session: LiveSession) => void;
  /** Called with both people of a session that has changed. */
  onChange: (user_id: string) => void;
  /** Called with a device whose grants have changed. */
  onGrants: (device_id: string) => void;
  /** A device of a person, if it is connected. */
  findDevice: (user_id: string, device_id: string) => Promise<GrantDevice | undefined>;
  /** Whether a page is connected to this server. */
  isHere: (seat: string) => boolean;
  now: () => number;
}
