import {
  AMPERSAND,
  APOSTROPHE,
  APPENDED,
  BACKSLASH,
  BACKTICK,
  BLANKS_MAXIMUM,
  BRACE,
  BRACKET_END,
  CARET,
  CLOSE,
  COLON,
  COMMAND_FILE,
  COMMANDS,
  DOLLAR,
  ENTITY,
  FoldSource,
  GREATER,
  HASH,
  isBlank,
  isCareted,
  isPrintable,
  JOINING,
  JOINT,
  LANGUAGE_BYTES,
  LESS,
  LETTER,
  LOOK_BYTES,
  markOf,
  NAME_LETTERS,
  NEWLINE,
  OPEN,
  PERCENT,
  QUOTE,
  RETURN,
  SEMICOLON,
  SLASH,
  SPACE,
  SPECIAL,
  STAR,
  TAB,
  UNDERSCORE,
  VISUAL_BASIC,
  WORD,
  WORD_BYTES,
} from './fold-source.ts';
import { hexDigit } from './text-codings.ts';

// Folds a text: resolves concatenated literals, character escapes, comments and line continuations, which can hide a command from a rule. Works in one
// pass and without knowing the language, by syntax that is common in script languages (JavaScript, PowerShell, VBA, VBScript, PHP, Python, shells, cmd,
// HTML). The result is matched in addition to the text.

export interface Folded {
  bytes: Buffer;
  /** Whether so much was folded that the text may hide something. */
  is_telling: boolean;
  /** Offsets in the result at which literals were joined. */
  joins: readonly number[];
}

/** Up to these numbers, single escapes are ordinary. */
const ORDINARY = { escapes: 2, percents: 2, entities: 1, marks: 12 } as const;

class Fold {
  private readonly text: Buffer;
  private readonly source: FoldSource;
  private readonly out: Buffer;
  private length = 0;
  private quote = 0;
  private is_in_tag = false;
  private escapes = 0;
  private percents = 0;
  private marks = 0;
  private entities = 0;
  private tricks = 0;
  private readonly joins: number[] = [];
  private readonly is_basic: boolean;
  private readonly is_careted: boolean;
  private readonly is_command: boolean;
  private readonly is_shell: boolean;

  constructor(text: Buffer) {
    this.text = text;
    this.source = new FoldSource(text);
    this.out = Buffer.allocUnsafe(text.length + 2);
    const beginning = text.toString('latin1', 0, LANGUAGE_BYTES);
    this.is_basic = VISUAL_BASIC.test(beginning);
    this.is_careted = isCareted(beginning);
    this.is_command = this.is_careted || COMMAND_FILE.test(beginning);
    this.is_shell = text[0] === HASH && text[1] === 0x21;
  }

  run(): Folded {
    const { text, out } = this;
    for (let at = 0; at < text.length; ) {
      const byte = text[at] ?? 0;
      if (SPECIAL[byte] === 0) {
        out[this.length++] = byte;
        at += 1;
      } else at = this.special(byte, at);
    }
    return {
      bytes: out.subarray(0, this.length),
      is_telling:
        this.tricks > 0 ||
        this.joins.length > 0 ||
        this.escapes > ORDINARY.escapes ||
        this.percents > ORDINARY.percents ||
        this.marks > ORDINARY.marks ||
        this.entities > ORDINARY.entities,
      joins: this.joins,
    };
  }

  private emit(byte: number): void {
    this.out[this.length++] = byte;
  }

  private emitText(text: string): void {
    this.length += this.out.write(text, this.length, 'utf8');
  }

  private last(back = 1): number {
    return this.length < back ? 0 : (this.out[this.length - back] ?? 0);
  }

  private isLineStart(): boolean {
    return this.last() === NEWLINE;
  }

  private isBehindCommand(length = this.length): boolean {
    let end = length;
    // The result has single blanks, except those that were written as entities.
    while (end > 0 && length - end < BLANKS_MAXIMUM && isBlank(this.out[end - 1])) end -= 1;
    let start = end;
    while (start > 0 && end - start < WORD_BYTES && WORD[this.out[start - 1] ?? 0] === 1) start -= 1;
    return start < end && COMMANDS.has(this.out.toString('latin1', start, end).toLowerCase());
  }

  private special(byte: number, at: number): number {
    switch (byte) {
      case SPACE:
      case TAB:
        return this.blanks(at);
      case NEWLINE:
      case RETURN:
        return this.lineEnd(at);
      case QUOTE:
      case APOSTROPHE:
        return this.quoted(byte, at);
      case BACKSLASH:
        return this.escape(at);
      case CARET:
      case BACKTICK:
        return this.wordEscape(byte, at);
      case PERCENT:
        return this.percent(at);
      case AMPERSAND:
        return this.entity(at);
      case SLASH:
        return this.slash(at);
      case HASH:
        return this.lineComment(byte, at);
      case LESS:
        return this.less(at);
      case OPEN:
        return this.call(at);
      case BRACKET_END:
        return this.cast(at);
      default:
        if (byte === GREATER && this.quote === 0) this.is_in_tag = false;
        this.emit(byte);
        return at + 1;
    }
  }

  private blanks(at: number): number {
    const { text } = this;
    let end = at + 1;
    while (isBlank(text[end])) end += 1;
    const next = text[end];
    if (next === NEWLINE || next === RETURN || end === text.length || this.isLineStart()) return end;
    if (end - at > 4 && this.isBehindCommand()) this.tricks += 1;
    this.emit(SPACE);
    return end;
  }

  private lineEnd(at: number): number {
    const { text } = this;
    let end = at;
    while (text[end] === NEWLINE || text[end] === RETURN || isBlank(text[end])) end += 1;
    this.quote = 0;
    const last = this.last();
    const is_basic = last === UNDERSCORE && isBlank(this.last(2));
    if (is_basic || last === BACKSLASH || last === CARET || last === BACKTICK) {
      this.length -= 1;
      this.tricks += 1;
      if ((is_basic || last === BACKTICK) && !isBlank(this.last())) this.emit(SPACE);
      return end;
    }
    const is_around = text[end] === OPEN ? this.isBehindCommand() : last === OPEN && this.isBehindCommand(this.length - 1);
    if (is_around) {
      this.tricks += 1;
      return end;
    }
    if (this.isLineStart()) return end;
    this.emit(NEWLINE);
    if (this.is_basic && text[end] === APOSTROPHE) return this.toLineEnd(end);
    if ((this.is_basic || this.is_command) && /^(rem[ \t]|::)/i.test(this.source.look(end, 4))) return this.toLineEnd(end);
    return end;
  }

  private toLineEnd(at: number): number {
    const found = this.source.endOf('\n', at);
    return found < 0 ? this.text.length : found;
  }

  private quoted(byte: number, at: number): number {
    const { text } = this;
    const next = text[at + 1] ?? 0;
    const is_in_word = LETTER[this.last()] === 1;
    if (this.quote === 0) {
      // An empty literal within a word: `po""wershell` in cmd, `c''at` in shells.
      if (is_in_word && next === byte && LETTER[text[at + 2] ?? 0] === 1) {
        this.tricks += 1;
        return at + 2;
      }
      if (!(byte === APOSTROPHE && is_in_word && LETTER[next] === 1)) this.quote = byte;
      this.emit(byte);
      return at + 1;
    }
    if (this.quote !== byte) {
      this.emit(byte);
      return at + 1;
    }
    return this.closed(at + 1);
  }

  /** After a literal that ends at `at`: continues in the next literal if they are concatenated, else writes the closing quote. */
  private closed(at: number): number {
    for (let next = at; ; ) {
      const around = this.mayJoin(next) ? this.source.look(next) : '';
      const [between] = JOINT.exec(around) ?? APPENDED.exec(around) ?? [];
      if (between === undefined) {
        this.emit(this.quote);
        this.quote = 0;
        return next;
      }
      const operand = next + between.length;
      const first = this.text[operand];
      if (first === QUOTE || first === APOSTROPHE) {
        this.joins.push(this.length);
        this.quote = first;
        return operand + 1;
      }
      const character = this.source.characterAt(operand);
      if (character === undefined) {
        this.emit(this.quote);
        this.quote = 0;
        return next;
      }
      this.joins.push(this.length);
      this.emitText(character.text);
      next = character.after;
    }
  }

  /** A quick check of the text after a literal: nearly always no other literal is joined. */
  private mayJoin(at: number): boolean {
    const { text } = this;
    let next = at;
    let is_next_line = false;
    for (; next < at + LOOK_BYTES; next += 1) {
      const byte = text[next];
      if (byte === NEWLINE || byte === RETURN) is_next_line = true;
      else if (!isBlank(byte) && byte !== SEMICOLON && byte !== CLOSE) break;
    }
    const byte = text[next] ?? 0;
    return JOINING.includes(byte) || (is_next_line && (LETTER[byte] === 1 || byte === DOLLAR));
  }

  /** Removes the last `back` bytes of the result, writes a literal, and continues after it. */
  private literal(back: number, text: string, after: number): number {
    this.length -= back;
    this.emit(QUOTE);
    this.emitText(text);
    this.quote = QUOTE;
    this.joins.push(this.length);
    return this.closed(after);
  }

  private call(at: number): number {
    const before = this.out.toString('latin1', Math.max(0, this.length - 20), this.length);
    const [name] = /(?<!\w)chr[wb]?\$?$/i.exec(before) ?? [];
    if (name !== undefined && this.quote === 0) {
      const character = this.source.characterAt(at - name.length);
      if (character !== undefined) return this.literal(name.length, character.text, character.after);
    }
    const [many] = /string\.fromcharcode$/i.exec(before) ?? [];
    if (many !== undefined) {
      const list = this.source.listed(at + 1);
      if (list !== undefined) return this.literal(many.length, list.text, list.after);
    }
    this.emit(OPEN);
    return at + 1;
  }

  private cast(at: number): number {
    const is_cast =
      this.quote === 0 && this.out.toString('latin1', Math.max(0, this.length - 5), this.length).toLowerCase() === '[char';
    const character = is_cast ? this.source.characterAt(at - 5) : undefined;
    if (character !== undefined) return this.literal(5, character.text, character.after);
    this.emit(BRACKET_END);
    return at + 1;
  }

  private escape(at: number): number {
    const { text } = this;
    const next = text[at + 1] ?? 0;
    // \xNN, \uNNNN, \u{N}, \NNN
    if (next === 0x78 || next === 0x75) {
      const [whole, two, four, some] =
        /^\\(?:x([0-9a-f]{2})|u([0-9a-f]{4})|u\{([0-9a-f]{1,6})\})/i.exec(this.source.look(at, 12)) ?? [];
      const code = Number.parseInt(two ?? four ?? some ?? '', 16);
      if (whole !== undefined && isPrintable(code)) {
        this.escapes += 1;
        this.emit(code);
        return at + whole.length;
      }
    } else if (this.quote !== 0 && (next === 0x30 || next === 0x31)) {
      const [whole, digits] = /^\\([01][0-7]{2})/.exec(this.source.look(at, 4)) ?? [];
      const code = Number.parseInt(digits ?? '', 8);
      if (whole !== undefined && isPrintable(code)) {
        this.escapes += 1;
        this.emit(code);
        return at + whole.length;
      }
    }
    this.emit(BACKSLASH);
    if (next !== BACKSLASH && !(this.quote !== 0 && next === this.quote)) return at + 1;
    this.emit(next);
    return at + 2;
  }

  /** Removes escapes within a word: `po^wershell` of cmd, `Inv`o`ke` of PowerShell. */
  private wordEscape(byte: number, at: number): number {
    const { text } = this;
    const next = text[at + 1] ?? 0;
    if (byte === CARET && this.is_careted && next > SPACE) {
      this.tricks += 1;
      this.emit(next);
      return at + 2;
    }
    if (LETTER[this.last()] === 1 && LETTER[next] === 1) {
      const isPart = (other: number) => LETTER[other] === 1 || other === byte;
      if (isPart(text[at - 2] ?? 0) && isPart(text[at + 2] ?? 0)) this.tricks += 1;
      return at + 1;
    }
    this.emit(byte);
    return at + 1;
  }

  private percent(at: number): number {
    const high = hexDigit(this.text[at + 1]);
    const low = hexDigit(this.text[at + 2]);
    const code = high === undefined || low === undefined ? undefined : high * 16 + low;
    if (!isPrintable(code)) {
      this.emit(PERCENT);
      return at + 1;
    }
    // Letters need no escape, so these count separately.
    if (WORD[code] === 1) this.percents += 1;
    else this.marks += 1;
    this.emit(code);
    return at + 3;
  }

  private entity(at: number): number {
    const [whole, hexadecimal, decimal, name] = ENTITY.exec(this.source.look(at, NAME_LETTERS + 2)) ?? [];
    const code = hexadecimal !== undefined ? Number.parseInt(hexadecimal, 16) : Number(decimal);
    const character =
      name === undefined
        ? code === NEWLINE || code === TAB || isPrintable(code)
          ? String.fromCharCode(code)
          : undefined
        : markOf(name);
    // Outside of tags, an escaped `<` is visible text and does not begin a tag.
    if (whole === undefined || character === undefined || (character === '<' && !this.is_in_tag)) {
      this.emit(AMPERSAND);
      return at + 1;
    }
    if (name === undefined ? WORD[code] === 1 : !['amp', 'quot', 'gt', 'lt', 'apos'].includes(name.toLowerCase()))
      this.entities += 1;
    this.emitText(character);
    return at + whole.length;
  }

  /** Leaves out the comment from `at` to `after`. */
  private comment(at: number, after: number): number {
    const before = this.last();
    const next = this.text[after] ?? NEWLINE;
    const is_between = before !== NEWLINE && before !== SEMICOLON && before !== BRACE && next !== NEWLINE && next !== RETURN;
    if (is_between && (!isBlank(before) || this.isBehindCommand())) this.tricks += 1;
    if (WORD[before] === 1 && WORD[next] === 1) this.emit(SPACE);
    return Math.max(after, at + 1);
  }

  private slash(at: number): number {
    const { text } = this;
    const next = text[at + 1];
    if (this.quote === 0 && !this.is_shell && next === STAR && this.length > 0) {
      const end = this.source.endOf('*/', at + 2);
      if (end >= 0) return this.comment(at, end + 2);
    }
    if (next === SLASH && this.quote === 0) return this.lineComment(SLASH, at);
    this.emit(SLASH);
    return at + 1;
  }

  private lineComment(byte: number, at: number): number {
    const before = this.last();
    const is_behind_mark = byte === SLASH && before !== COLON && '(,;{}'.includes(String.fromCharCode(before || 0x41));
    // Some rules recognise the file by the first byte.
    if (this.length > 0 && this.quote === 0 && (before === NEWLINE || is_behind_mark)) {
      if (before === OPEN) this.tricks += 1;
      return this.toLineEnd(at);
    }
    this.emit(byte);
    return at + 1;
  }

  private less(at: number): number {
    const next = this.text[at + 1] ?? 0;
    if (next === HASH && this.quote === 0) {
      const end = this.source.endOf('#>', at + 2);
      if (end >= 0) return this.comment(at, end + 2);
    }
    if (LETTER[next] === 1 && this.quote === 0) this.is_in_tag = true;
    this.emit(LESS);
    return at + 1;
  }
}

/** Folds a text. */
export function folded(text: Buffer): Folded {
  return new Fold(text).run();
}
