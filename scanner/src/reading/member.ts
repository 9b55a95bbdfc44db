import type { StatusDetail } from '@palisade/contract/antivirus';
import type { ScanPhrase } from '@palisade/contract/scan-phrases';
import type { Content } from './content.ts';
import type { Budget } from './limits.ts';

/** The body of a member: unpacked and already counted, or a stream that is counted while it is read. `damage` is the fault of the content. */
export type MemberBody =
  | { content: Content; damage?: StatusDetail | undefined }
  | { stream: AsyncIterable<unknown>; packed_bytes: number };

/** One of the contents that a format holds. */
export interface Member {
  name: string;
  /** Why its content cannot be read, if so. */
  closed?: StatusDetail | undefined;
  /**
   * The kind of a member that is not simply a file. `view`: another form of the content around it, matched and not opened again. `alone`: a value of the content around it, of which there may be
   * thousands, matched and not counted. `written`: written in letters in a text, which may have thousands of them without being an archive; a limit of its own counts them.
   */
  kind?: 'view' | 'alone' | 'written';
  /** Ids of carving patterns whose finds in this member the container's reader already gives, as members beside it. */
  taken?: readonly string[];
  /** May be called once, before the next member is asked for. */
  read(): Promise<MemberBody> | MemberBody;
}

/** The means of unpacking: the budget of the scan, and file names of its own for content that is too big for memory. */
export interface ReadContext {
  budget: Budget;
  /** Opens encrypted members. */
  password?: string | undefined;
  /** A new path. */
  path(): string;
  /**
   * The reader understood the bytes from `start` to `end` (exclusive) of the content that it was given: headers, packed data of members that it gives,
   * padding that is zero, trailers that the format knows. Unclaimed bytes are examined as a member of their own, `rest at <offset>`. A reader that
   * claims no bytes, and does not fail, claims the whole of its content.
   */
  claim(start: number, end: number): void;
  /** Something about the content that its person is to know. */
  note(phrase: ScanPhrase): void;
}

/** The rest of an archive cannot be read. Data, not a failure: earlier members are good. */
export class Unreadable extends Error {
  override name = 'Unreadable';
  readonly detail: StatusDetail;

  constructor(detail: StatusDetail) {
    super(detail);
    this.detail = detail;
  }
}

/** Names without a declared encoding: most are UTF-8 all the same. */
export function decodeName(raw: Buffer): string {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(raw);
  } catch {
    return raw.toString('latin1');
  }
}
