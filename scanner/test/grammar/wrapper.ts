import type { Chance } from '#test/structure-fuzz.ts';
import type { Writers } from './writers.ts';

/**
 * Kind of a content, for wrappers that fit only some: `line` and `text` are ASCII, of which `text` says the same in another encoding, `archive` has a magic that programs look for behind other
 * content, `file` is anything else.
 */
type Kind = 'line' | 'text' | 'archive' | 'file';

/** A file on its way into another. */
export interface Packed {
  bytes: Buffer;
  /** Its name, as a person would give it. */
  name: string;
  kind: Kind;
}

/** One way to put a file into another one. */
export interface Wrapper {
  name: string;
  /** Contents that it fits; all when absent. */
  takes?: readonly Kind[];
  makes: Kind;
  ending: string;
  /** Programs that write it, beside Python. */
  needs?: readonly string[];
  /** It is damaged, or says two things: not to call it clean is right even where another program makes something of it. */
  flawed?: true;
  wrap(inner: Packed, parts: { writers: Writers; chance: Chance }): Promise<Buffer> | Buffer;
}

/** Harmless text beside a payload. */
export const HARMLESS = Buffer.from('Nothing to see here: this is a harmless text. '.repeat(8));
