import type { Coverage, StatusDetail } from '@palisade/contract/antivirus';
import type { ThreatFacts } from '@palisade/contract/quarantine';
import type { ScanPhrase } from '@palisade/contract/scan-phrases';
import type { Carved } from '#scanner/formats/index.ts';

/** A rule that matched. `severity` orders threats: the worst one is reported for the file. */
export interface Match {
  rule: string;
  threat: string;
  description: string;
  severity: 'low' | 'medium' | 'high' | 'critical';
  /** URL of a public page about it. */
  reference: string | null;
  /** `suspicious` is a note on the record, never a verdict. */
  verdict: 'infected' | 'suspicious';
}

/**
 * Matches bytes with the rules. `onPlaces` gets the offsets at which containers seem to begin; `is_cut`: there are more than these. `path`: the upload's name and the names
 * of the members down to this content, which rules of feeds may test. `is_within`: the bytes are a window of a larger content, but not the first one, so that rules about
 * its first bytes do not apply.
 */
export type MatchRules = (
  bytes: Buffer,
  onPlaces?: (carved: Carved, offsets: number[], is_cut: boolean) => void,
  path?: string,
  is_within?: boolean,
) => Match[];

/** The rules' matches in a piece of a content, and the offsets at which containers seem to begin in it. */
export interface Finding {
  matches: Match[];
  /** Offsets count from the piece's first byte. */
  places: { carved: Carved; offsets: number[]; is_cut: boolean }[];
}

/** The matchers of a set of signatures. `matchHash` is absent where no list of hashes is in use: then no content is hashed. */
export interface Matchers {
  match: MatchRules;
  /** Whether some rule tests names: the same bytes under another name may then match other rules. */
  asks_for_names?: boolean | undefined;
  /** `sha256` in hex. */
  matchHash?: ((sha256: string) => Match[]) | undefined;
}

/** The result of one scan: findings, and unread parts. An empty `unread` means that every byte of every member was read. */
export interface Examination {
  threat: string | null;
  threat_member: string | null;
  threat_facts: ThreatFacts | null;
  /** The media type of the upload's bytes. */
  media_type: string | null;
  /** Whether the result depends on the name of the upload: the same bytes under another name may then have another result. */
  named_after_upload: boolean;
  /** `member` is the path inside the file, untrusted like `threat_member`; null for the file itself. */
  notes: { member: string | null; phrase: ScanPhrase }[];
  unread: StatusDetail[];
  coverage: Coverage;
}

/**
 * The progress of a scan: the share of the file itself that has been matched, from 0 to 1, and the members of all archives in it, as far as they are
 * known.
 */
export interface Progress {
  share: number;
  members_read: number;
  members_found: number;
}
