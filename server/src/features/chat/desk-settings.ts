import { type DeskSettings, deskSettingsSchema } from '@palisade/contract/desk';
import type { Kysely } from 'kysely';
import { type InstallationTables, readFact, writeFact } from '#platform/installation.ts';

const SETTINGS = 'desk_settings';
const UNSET: DeskSettings = { time_zone: 'UTC', hours: null, unanswered_minutes: 10, offline_minutes: 5 };

/** As administrators have set it, or always there. */
export async function readDeskSettings(database: Kysely<InstallationTables>): Promise<DeskSettings> {
  const kept = await readFact(database, SETTINGS);
  return kept === undefined ? UNSET : deskSettingsSchema.parse(JSON.parse(kept));
}

export async function writeDeskSettings(database: Kysely<InstallationTables>, settings: DeskSettings): Promise<void> {
  await writeFact(database, SETTINGS, JSON.stringify(settings));
}
