import type { EngineAnswer } from '@palisade/contract/antivirus';
import { enginesSchema } from './scan-record.ts';
import type { ScanRow, Verdict } from './scan-row.ts';

/** The name of the threat whose file has this SHA-256 (hex); undefined if no list contains it. */
export type MatchHash = (sha256: string) => string | undefined;

/** Name of the hash lists among the engines of a record. */
const LIST_NAME = 'SHA-256 list';

function listAnswer(threat: string): EngineAnswer {
  return { name: LIST_NAME, version: '1', signatures_version: '', verdict: 'infected', threat, duration_ms: 0 };
}

/** Adds a hash list's entry for the same bytes to a verdict: a list is right about its own sums, even against an engine, which may have an older list. */
export function withList(matchHash: MatchHash | undefined, row: ScanRow, verdict: Partial<Verdict>): Partial<Verdict> {
  if ((verdict.scan_status ?? row.scan_status) === 'infected') return verdict;
  const threat = matchHash?.(row.file_hash);
  if (threat === undefined) return verdict;
  const engines = [...enginesSchema.parse(JSON.parse(verdict.engines ?? row.engines)), listAnswer(threat)];
  const found = { threat_detected: threat, threat_member: null, threat_facts: null, engines: JSON.stringify(engines) };
  return { ...verdict, scan_status: 'infected', status_detail: null, edition: null, ...found };
}

/** Whether a verdict is from every engine that found something in the file before. A hash list is always asked, because that costs nothing. */
export function isOfItsFinders({ engines: before }: ScanRow, { engines = '[]' }: Partial<Verdict>): boolean {
  const asked = new Set(enginesSchema.parse(JSON.parse(engines)).map(({ name }) => name));
  return enginesSchema
    .parse(JSON.parse(before))
    .every(({ name, verdict }) => verdict !== 'infected' || name === LIST_NAME || asked.has(name));
}
