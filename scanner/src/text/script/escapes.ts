const NAMED: Readonly<Record<string, string>> = { n: '\n', r: '\r', t: '\t', b: '\b', f: '\f', v: '\v', a: '\x07', e: '\x1b' };
const ESCAPE = /([\\`])(?:x([0-9a-f]{2})|u([0-9a-f]{4})|u\{([0-9a-f]{1,6})\}|([0-3]?[0-7]{1,2})|(\r?\n)|([\s\S]))/gi;

/** Resolves the escapes of a text, which begin with its language's `escape_mark`. */
export function fromEscape(text: string, escape_mark: string): string {
  if (!text.includes(escape_mark)) return text;
  return text.replaceAll(
    ESCAPE,
    (whole, mark: string, two?: string, four?: string, some?: string, octal?: string, end?: string, one: string = '') => {
      if (mark !== escape_mark) return whole;
      // PowerShell has no numeric escapes except `0.
      if (mark === '`') return octal === '0' ? '\0' : (NAMED[one] ?? whole.slice(1));
      const digits = two ?? four ?? some;
      if (digits !== undefined) {
        const code = Number.parseInt(digits, 16);
        return code <= 0x10ffff ? String.fromCodePoint(code) : whole;
      }
      if (octal !== undefined) return String.fromCharCode(Number.parseInt(octal, 8) & 0xff);
      return end === undefined ? (NAMED[one] ?? one) : '';
    },
  );
}
