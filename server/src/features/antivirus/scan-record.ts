import { coverageSchema, engineAnswerSchema, type Infection, notePhraseSchema, type Scan } from '@palisade/contract/antivirus';
import { TEST_FILE_THREATS } from '@palisade/contract/constants';
import { type ScanDetail, threatFactsSchema } from '@palisade/contract/quarantine';
import { knownScanPhrase, noteInEnglish, scanEnglish } from '@palisade/contract/scan-phrases';
import { z } from 'zod';
import { disguiseOf } from './disguise.ts';
import type { ScanRow } from './scan-row.ts';

export const notesSchema = z.array(z.string());
const notePhrasesSchema = z.array(notePhraseSchema.nullable());

/** The phrases of a record's notes, one for each; null if none with the same text is stored, as in a record of an older server. */
export function notePhrasesOf(notes: readonly string[], stored: string | null): Scan['note_phrases'] {
  const phrases = stored === null ? [] : notePhrasesSchema.parse(JSON.parse(stored));
  return notes.map((note, at) => {
    const kept = phrases[at] ?? null;
    const phrase = kept === null ? undefined : knownScanPhrase(kept);
    return phrase !== undefined && noteInEnglish({ member: kept?.member ?? null, phrase }) === note ? kept : null;
  });
}

export const enginesSchema = z.array(engineAnswerSchema);

/** A record as the lists show it. */
export function scanOf({
  user_id: _user,
  spooled: _spooled,
  attempts: _attempts,
  engine_deaths: _deaths,
  engine_deaths_edition: _deaths_edition,
  unended_readings: _unended,
  threat_facts: _facts,
  sealed: _sealed,
  home: _home,
  in_store: _in_store,
  sealed_sha256: _sealed_sha256,
  kept_until: _until,
  edition: _edition,
  answered_from: _from,
  device_id,
  device_name,
  device_path,
  closed_at,
  closed_by,
  ...row
}: ScanRow): Scan {
  const disguise = disguiseOf(row.filename, row.media_type);
  const notes = notesSchema.parse(JSON.parse(row.notes));
  return {
    ...row,
    notes: [...(disguise === undefined ? [] : [scanEnglish(disguise)]), ...notes],
    note_phrases: [...(disguise === undefined ? [] : [{ ...disguise, member: null }]), ...notePhrasesOf(notes, row.note_phrases)],
    engines: enginesSchema.parse(JSON.parse(row.engines)),
    is_test_file: isTestFile(row),
    coverage: row.coverage === null ? null : coverageSchema.parse(JSON.parse(row.coverage)),
    ...(device_id !== null && { device: { id: device_id, device_name: device_name ?? '', path: device_path ?? '' } }),
    ...(row.scan_status === 'infected' && !isTestFile(row) && { infection: infectionOf({ closed_at, closed_by }) }),
  };
}

function infectionOf({ closed_at, closed_by }: Pick<ScanRow, 'closed_at' | 'closed_by'>): Infection {
  return closed_at === null ? { state: 'open' } : { state: 'closed', at: closed_at, by: closed_by ?? 'person' };
}

/** Whether what was found is one of the industry's harmless test files. */
export function isTestFile({ threat_detected }: Pick<ScanRow, 'threat_detected'>): boolean {
  return TEST_FILE_THREATS.includes(threat_detected ?? '');
}

/** A record with all its facts, but without the report on it. */
export function detailOf(row: ScanRow): Omit<ScanDetail, 'report'> {
  return {
    ...scanOf(row),
    threat_facts: row.threat_facts === null ? null : threatFactsSchema.parse(JSON.parse(row.threat_facts)),
    kept: row.sealed === 1 ? 'sealed' : row.spooled === 1 ? 'waiting' : 'no',
    kept_until: row.kept_until,
    answered_from: row.answered_from,
  };
}
