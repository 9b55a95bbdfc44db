import { ownTimeZone, timeZoneOf } from '@palisade/contract/day';
import { type DeskSettings, deskSettingsSchema, type ReadSettings } from '@palisade/contract/desk';
import type { Kysely } from 'kysely';
import { z } from 'zod';
import { type InstallationTables, readFact, writeFact } from '#platform/installation.ts';

const SETTINGS = 'desk_settings';
/** Until an administrator sets a time zone, days are in the server's. */
const OWN_ZONE = ownTimeZone().name;
const UNSET: DeskSettings = { time_zone: OWN_ZONE, hours: null, unanswered_minutes: 10, offline_minutes: 5 };
const zoneSchema = z.object({ time_zone: z.string() });

/** The hours that administrators have set, or always open. A stored time zone that this server does not know is read as UTC and named beside it. */
export async function readDeskSettings(database: Kysely<InstallationTables>): Promise<ReadSettings> {
  const kept = await readFact(database, SETTINGS);
  if (kept === undefined) return UNSET;
  const stored: unknown = JSON.parse(kept);
  const { time_zone } = zoneSchema.parse(stored);
  const { name, is_known } = timeZoneOf(time_zone);
  const settings = deskSettingsSchema.parse({ ...z.looseObject({}).parse(stored), time_zone: name });
  return is_known ? settings : { ...settings, unknown_time_zone: time_zone };
}

export async function writeDeskSettings(database: Kysely<InstallationTables>, settings: DeskSettings): Promise<void> {
  await writeFact(database, SETTINGS, JSON.stringify(settings));
}
