import type { Chance } from '#test/chance.ts';

// Formats that a few lines of code write: one definition of each, of which tests of readers, fuzzing and the comparison with other programs take their files.

/**
 * Kind of a content, for samples that fit only some: `line` and `text` are ASCII, of which `text` says the same in another encoding, `archive` has a magic that programs look for behind other
 * content, `file` is anything else.
 */
export type Kind = 'line' | 'text' | 'archive' | 'file';

/** A file on its way into another. */
export interface Packed {
  bytes: Buffer;
  /** Its name, as a person would give it. */
  name: string;
  kind: Kind;
}

/** One way to put a file into another one. */
export interface Sample {
  name: string;
  /** Contents that it fits; all when absent. */
  takes?: readonly Kind[];
  makes: Kind;
  ending: string;
  /** It is damaged, or says two things: not to call it clean is right even where another program makes something of it. */
  flawed?: true;
  wrap(inner: Packed, chance: Chance): Buffer;
}

export const LINES = ['line', 'text'] as const;
export const TEXTS = ['text'] as const;

export function made(
  name: string,
  ending: string,
  wrap: (inner: Packed, chance: Chance) => Buffer | string,
  { takes, makes = 'file' }: { takes?: readonly Kind[]; makes?: Kind } = {},
): Sample {
  const whole = (inner: Packed, chance: Chance) => {
    const bytes = wrap(inner, chance);
    return typeof bytes === 'string' ? latin(bytes) : bytes;
  };
  return { name, ending, makes, wrap: whole, ...(takes === undefined ? {} : { takes }) };
}

/** Marks the samples as flawed whose names match. */
export const flawedOf = (samples: readonly Sample[], pattern: RegExp): Sample[] =>
  samples.map((sample) => (pattern.test(sample.name) ? { ...sample, flawed: true } : sample));

/** Harmless text beside a payload. */
export const HARMLESS = Buffer.from('Nothing to see here: this is a harmless text. '.repeat(8));

export const latin = (text: string) => Buffer.from(text, 'latin1');
export const hex = (digits: string) => Buffer.from(digits, 'hex');

/** A number with its lowest byte first. */
export function little(value: number, bytes = 4): Buffer {
  const buffer = Buffer.alloc(bytes);
  buffer.writeUIntLE(value % 2 ** (8 * bytes), 0, bytes);
  return buffer;
}

/** A number with its highest byte first. */
export const big = (value: number, bytes = 4): Buffer => Buffer.from(little(value, bytes).reverse());

/** A buffer with numbers, lowest byte first, at these places. */
export function record(size: number, places: readonly (readonly [at: number, value: number, bytes?: number])[]): Buffer {
  const buffer = Buffer.alloc(size);
  for (const [at, value, bytes = 4] of places) little(value, bytes).copy(buffer, at);
  return buffer;
}

/** A text in pieces of so many characters. */
export const piecesOf = (text: string, width: number): string[] => text.match(new RegExp(`[\\s\\S]{1,${width}}`, 'g')) ?? [];
