import type { StatusDetail } from '@palisade/contract/antivirus';
import type { ScanPhrase } from '@palisade/contract/scan-phrases';
import type { Content } from './content.ts';
import type { Budget } from './limits.ts';

/** The body of a member: unpacked and already counted, or a stream that is counted while it is read. `damage`: why the content is incomplete or wrong. */
export type MemberBody =
  | { content: Content; damage?: StatusDetail | undefined }
  | { stream: AsyncIterable<unknown>; packed_bytes: number };

/** One of the contents that a format holds. */
export interface Member {
  name: string;
  /** Why its content cannot be read; undefined if it can. */
  closed?: StatusDetail | undefined;
  /**
   * Kind of a member that is not an ordinary file. `view`: another form of the containing content; matched, but not opened. `alone`: a value of the containing content, of
   * which there may be thousands; matched, but not counted. `written`: a file encoded in a text, which may have thousands of them; it has a limit of its own.
   */
  kind?: 'view' | 'alone' | 'written';
  /** Ids of carving patterns that are ignored in this member, because the container's reader gives the same data as other members. */
  taken?: readonly string[];
  /** May be called once, before the next member is requested. */
  read(): Promise<MemberBody> | MemberBody;
}

/** Resources for unpacking: the budget of the scan, and paths of files for content that is too big for memory. */
export interface ReadContext {
  budget: Budget;
  /** For encrypted members. */
  password?: string | undefined;
  /** Returns a path that is not used yet. */
  path(): string;
  /**
   * Marks bytes from `start` to `end` (exclusive) of the content as understood by the reader: headers, packed data of members that it gives,
   * zero padding, trailers that the format defines. Unclaimed bytes are examined as a member of their own, `rest at <offset>`. A reader that
   * claims no bytes, and does not fail, claims the whole of its content.
   */
  claim(start: number, end: number): void;
  /** Adds a note about the content for the user. */
  note(phrase: ScanPhrase): void;
}

/** The rest of an archive cannot be read. This is an expected outcome: earlier members are valid. */
export class Unreadable extends Error {
  override name = 'Unreadable';
  readonly detail: StatusDetail;

  constructor(detail: StatusDetail) {
    super(detail);
    this.detail = detail;
  }
}

/** Decodes a name without a declared encoding: as UTF-8 if it is valid, else as Latin-1. */
export function decodeName(raw: Buffer): string {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(raw);
  } catch {
    return raw.toString('latin1');
  }
}
