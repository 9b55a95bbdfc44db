import { type Formula, operation } from './xlm-formula.ts';

// Parses the tokens of a workbook formula (MS-XLS 2.5.198, MS-XLSB 2.5.97), which are in postfix order: operands before their operators.

/** Versions of the format: workbooks of Excel 5 and 95, of Excel 97 to 2003, and binary workbooks since Excel 2007. */
export type Edition = 'biff5' | 'biff8' | 'xlsb';

/** Functions that macro sheets use, by number (MS-XLS 2.5.198.17). `PARTS` has the number of arguments of functions with a fixed number other than one. */
const FUNCTIONS: Readonly<Record<number, string>> = {
  1: 'IF',
  4: 'SUM',
  8: 'ROW',
  9: 'COLUMN',
  24: 'ABS',
  25: 'INT',
  27: 'ROUND',
  29: 'INDEX',
  30: 'REPT',
  31: 'MID',
  32: 'LEN',
  33: 'VALUE',
  36: 'AND',
  37: 'OR',
  38: 'NOT',
  39: 'MOD',
  48: 'TEXT',
  53: 'GOTO',
  54: 'HALT',
  55: 'RETURN',
  65: 'DATE',
  66: 'TIME',
  67: 'DAY',
  74: 'NOW',
  78: 'OFFSET',
  79: 'ABSREF',
  80: 'RELREF',
  81: 'ARGUMENT',
  82: 'SEARCH',
  84: 'ERROR',
  87: 'ECHO',
  88: 'SET.NAME',
  89: 'CALLER',
  90: 'DEREF',
  94: 'ACTIVE.CELL',
  95: 'SELECTION',
  96: 'RESULT',
  100: 'CHOOSE',
  102: 'VLOOKUP',
  104: 'INPUT',
  106: 'GET.FORMULA',
  107: 'GET.NAME',
  108: 'SET.VALUE',
  110: 'EXEC',
  111: 'CHAR',
  112: 'LOWER',
  113: 'UPPER',
  115: 'LEFT',
  116: 'RIGHT',
  118: 'TRIM',
  119: 'REPLACE',
  120: 'SUBSTITUTE',
  121: 'CODE',
  123: 'DIRECTORY',
  124: 'FIND',
  130: 'T',
  131: 'N',
  132: 'FOPEN',
  133: 'FCLOSE',
  134: 'FSIZE',
  135: 'FREADLN',
  136: 'FREAD',
  137: 'FWRITELN',
  138: 'FWRITE',
  139: 'FPOS',
  145: 'GET.DEF',
  146: 'REFTEXT',
  147: 'TEXTREF',
  148: 'INDIRECT',
  149: 'REGISTER',
  150: 'CALL',
  166: 'FILES',
  171: 'FOR',
  172: 'WHILE',
  173: 'BREAK',
  174: 'NEXT',
  175: 'INITIATE',
  176: 'REQUEST',
  177: 'POKE',
  178: 'EXECUTE',
  179: 'TERMINATE',
  185: 'GET.CELL',
  186: 'GET.WORKSPACE',
  187: 'GET.WINDOW',
  188: 'GET.DOCUMENT',
  201: 'UNREGISTER',
  219: 'ADDRESS',
  223: 'ELSE',
  224: 'ELSE.IF',
  225: 'END.IF',
  226: 'FOR.CELL',
  237: 'VOLATILE',
  241: 'FORMULA.CONVERT',
  244: 'INFO',
  248: 'PAUSE',
  251: 'RESUME',
  257: 'EVALUATE',
  267: 'REGISTER.ID',
  268: 'GET.WORKBOOK',
  336: 'CONCATENATE',
  337: 'POWER',
};
const PARTS: Readonly<Record<number, number>> = {
  10: 0,
  19: 0,
  27: 2,
  30: 2,
  31: 3,
  34: 0,
  35: 0,
  39: 2,
  48: 2,
  54: 0,
  63: 0,
  65: 3,
  66: 3,
  74: 0,
  79: 2,
  80: 2,
  94: 0,
  95: 0,
  97: 2,
  119: 4,
  136: 2,
  137: 2,
  138: 2,
  173: 0,
  174: 0,
  176: 2,
  177: 3,
  178: 2,
  212: 2,
  213: 2,
  221: 0,
  223: 0,
  225: 0,
  337: 2,
};
/** Commands that are called like functions (MS-XLS 2.5.198.4). */
const COMMANDS: Readonly<Record<number, string>> = {
  1: 'OPEN',
  4: 'CLOSE',
  5: 'SAVE.AS',
  6: 'FILE.DELETE',
  17: 'RUN',
  96: 'FORMULA',
  97: 'FORMULA.FILL',
  98: 'FORMULA.ARRAY',
  118: 'ALERT',
};
const USER_DEFINED = 255;

const OPERATORS = ['+', '-', '*', '/', '^', '&', '<', '<=', '=', '>=', '>', '<>', ' ', ',', ':'];
const OPERATORS_FROM = 3;

/** Size of the data after a token that is skipped or printed as a placeholder. Bytes. */
const PASSED: Readonly<Record<Edition, Readonly<Record<number, number>>>> = {
  biff5: {
    1: 4,
    2: 4,
    28: 1,
    32: 7,
    35: 14,
    37: 6,
    38: 6,
    39: 6,
    40: 6,
    41: 2,
    42: 3,
    43: 6,
    45: 6,
    46: 2,
    47: 2,
    57: 24,
    59: 20,
    60: 17,
    61: 20,
  },
  biff8: {
    1: 4,
    2: 4,
    24: 5,
    28: 1,
    32: 7,
    35: 4,
    37: 8,
    38: 6,
    39: 6,
    40: 6,
    41: 2,
    42: 4,
    43: 8,
    45: 8,
    46: 2,
    47: 2,
    57: 6,
    59: 10,
    60: 6,
    61: 10,
  },
  xlsb: {
    1: 4,
    2: 4,
    28: 1,
    32: 14,
    35: 4,
    37: 12,
    38: 6,
    39: 6,
    40: 6,
    41: 2,
    42: 6,
    43: 12,
    45: 12,
    46: 2,
    47: 2,
    57: 6,
    59: 14,
    60: 8,
    61: 14,
  },
};
/** Tokens that push no operand; they only control how later tokens are evaluated. */
const SILENT_TOKENS: readonly number[] = [0x26, 0x27, 0x28, 0x29, 0x2e, 0x2f];
const XLSB_LIST = { token: 0x18, kind: 0x19, bytes: 13 } as const;
const TOKENS_MAXIMUM = 16_384;

/** Reads a text after its length in characters. `after` is the position after the text. */
export function countedText(bytes: Buffer, at: number, edition: Edition): { text: string; after: number } {
  if (edition === 'xlsb') {
    const end = at + 2 + 2 * (at + 2 <= bytes.length ? bytes.readUInt16LE(at) : 0);
    return { text: bytes.toString('utf16le', at + 2, end), after: end };
  }
  const count = bytes[at] ?? 0;
  if (edition === 'biff5') return { text: bytes.toString('latin1', at + 1, at + 1 + count), after: at + 1 + count };
  const is_wide = ((bytes[at + 1] ?? 0) & 1) === 1;
  const end = at + 2 + count * (is_wide ? 2 : 1);
  return { text: bytes.toString(is_wide ? 'utf16le' : 'latin1', at + 2, end), after: end };
}

/** Decodes an RK number (MS-XLS 2.5.122): a 30-bit integer or the upper half of a double, optionally divided by 100. */
export function rkNumber(raw: number): number {
  const bytes = Buffer.alloc(8);
  bytes.writeInt32LE(raw & ~3, 4);
  const number = raw & 2 ? raw >> 2 : bytes.readDoubleLE(0);
  return raw & 1 ? number / 100 : number;
}

/** Reads a cell reference: the row, then the column with two flag bits for relative references. */
function cellAt(bytes: Buffer, at: number, edition: Edition): { formula: Formula; after: number } {
  const row = edition === 'xlsb' ? bytes.readUInt32LE(at) : bytes.readUInt16LE(at) & (edition === 'biff5' ? 0x3fff : 0xffff);
  const column_at = at + (edition === 'xlsb' ? 4 : 2);
  const column = edition === 'biff5' ? (bytes[column_at] ?? 0) : bytes.readUInt16LE(column_at) & 0x3fff;
  return { formula: { kind: 'cell', cell: { row, column } }, after: column_at + (edition === 'biff5' ? 1 : 2) };
}

/** Size of an attribute after its token (MS-XLS 2.5.198.31 and following). Only CHOOSE has a table. Bytes. */
const attributeBytes = (bytes: Buffer, at: number) =>
  ((bytes[at] ?? 0) & 4) === 0 ? 3 : 3 + 2 * (1 + bytes.readUInt16LE(at + 1));

/** Builds a formula from its tokens; undefined if they give no operand. `nameOf` gives the text of a defined name; areas are printed as a placeholder. */
export function formulaOf(tokens: Buffer, edition: Edition, nameOf: (index: number) => string | undefined): Formula | undefined {
  const stack: Formula[] = [];
  const pop = (): Formula => stack.pop() ?? { kind: 'text', text: '?' };
  const text = (value: string): void => void stack.push({ kind: 'text', text: value });
  const call = (name: string, count: number): void => {
    const parts = Array.from({ length: Math.min(count, stack.length) }, pop).reverse();
    stack.push({ kind: 'call', name, parts });
  };
  try {
    for (let at = 0, count = 0; at < tokens.length && count < TOKENS_MAXIMUM; count += 1) {
      const raw = tokens[at] ?? 0;
      // The operand class only says how the value is used, so it is ignored.
      const token = raw >= 0x40 ? (raw & 0x1f) | 0x20 : raw;
      at += 1;
      const operator = OPERATORS[token - OPERATORS_FROM];
      if (operator !== undefined) {
        const right = pop();
        stack.push(operation(operator, pop(), right));
        continue;
      }
      switch (token) {
        case 0x12:
        case 0x13:
        case 0x14:
          stack.push({ kind: 'sign', sign: token === 0x12 ? '+' : token === 0x13 ? '-' : '%', part: pop() });
          break;
        case 0x15:
          break;
        case 0x16:
          text('');
          break;
        case 0x17: {
          const found = countedText(tokens, at, edition);
          stack.push({ kind: 'value', value: found.text });
          at = found.after;
          break;
        }
        case 0x19:
          // SUM with one argument is stored as an attribute.
          if (((tokens[at] ?? 0) & 0x10) !== 0) call('SUM', 1);
          at += attributeBytes(tokens, at);
          break;
        case 0x1d:
          stack.push({ kind: 'value', value: tokens[at] === 1 });
          at += 1;
          break;
        case 0x1e:
          stack.push({ kind: 'value', value: tokens.readUInt16LE(at) });
          at += 2;
          break;
        case 0x1f:
          stack.push({ kind: 'value', value: tokens.readDoubleLE(at) });
          at += 8;
          break;
        case 0x21: {
          const number = tokens.readUInt16LE(at);
          call(FUNCTIONS[number] ?? `FUNCTION.${number}`, PARTS[number] ?? 1);
          at += 2;
          break;
        }
        case 0x22: {
          const parts = (tokens[at] ?? 0) & 0x7f;
          const number = tokens.readUInt16LE(at + 1);
          const known = number & 0x8000 ? COMMANDS[number & 0x7fff] : FUNCTIONS[number];
          if (number === USER_DEFINED) {
            call('', parts);
            const made = stack.pop();
            const [name, ...given] = made?.kind === 'call' ? made.parts : [];
            stack.push({ kind: 'call', name: name?.kind === 'text' ? name.text : 'FUNCTION', parts: given });
          } else call(known ?? `${number & 0x8000 ? 'COMMAND' : 'FUNCTION'}.${number & 0x7fff}`, parts);
          at += 3;
          break;
        }
        case 0x23:
          text(nameOf(edition === 'biff5' ? tokens.readUInt16LE(at) : tokens.readUInt32LE(at)) ?? 'name');
          at += PASSED[edition][token] ?? 0;
          break;
        case 0x24:
        case 0x2c: {
          const found = cellAt(tokens, at, edition);
          stack.push(found.formula);
          at = found.after;
          break;
        }
        case 0x3a: {
          // A reference to another sheet. The sheet is ignored, because no rule needs it.
          const found = cellAt(tokens, at + (edition === 'biff5' ? 14 : 2), edition);
          stack.push(found.formula);
          at = found.after;
          break;
        }
        default: {
          const is_list = edition === 'xlsb' && token === XLSB_LIST.token && tokens[at] === XLSB_LIST.kind;
          const passed = is_list ? XLSB_LIST.bytes : PASSED[edition][token];
          if (passed === undefined) return stack.at(-1);
          if (!SILENT_TOKENS.includes(token)) text(token === 0x25 || token === 0x3b ? 'area' : '?');
          at += passed;
        }
      }
    }
  } catch (error) {
    // The token data is truncated.
    if (!(error instanceof RangeError)) throw error;
  }
  return stack.at(-1);
}
