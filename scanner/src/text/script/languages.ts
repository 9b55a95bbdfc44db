import type { Language } from './tokens.ts';

// Detects the parts of a text that are scripts, and their languages.

interface Part {
  language: Language;
  start: number;
  end: number;
}

const ELEMENT = /<script\b([^>]{0,400})>/gi;
const ELEMENT_END = /<\/script\s{0,8}>/i;
const ELEMENTS_MAXIMUM = 40;
const BLOCK = /<\?(?:php\b|=)?|<%=?/gi;

const VISUAL_BASIC =
  /\b(?:dim|end\s(?:sub|function|if|with)|execute(?:global)?|wscript\.|msgbox|on error|strreverse|chrw?\s?\(.{1,40}\)\s?&)/i;
const POWERSHELL =
  /\$\w{1,40}\s{0,4}=(?!=)[^;\n]{0,400}(?:;\s|\n|$)|-b?x?or\b|-join\b|-c?i?(?:replace|split)\b|-f\s|\[char\b|\[convert\]|\biex\b|\binvoke-|new-object|\bpowershell\b/i;
const PYTHON =
  /^#![^\n]{0,60}python|^[ \t]{0,8}import (?![^\n]{0,200}\bfrom\b)[\w., ]{1,80}(?:;|\r?$)|^[ \t]{0,8}from [\w.]{1,40} import\b|\bb64decode\b|__import__|\bexec\(|\blambda\b/m;
const JAVASCRIPT = /\b(?:var|let|const)\s{1,4}[\w$[{]|\bfunction\b|=>|\batob\(|fromcharcode|activexobject|\bnew\s[A-Z]/i;

/** Calls of JavaScript. Such a script is not PowerShell, even if its commands name it. */
const METHODS = /\beval\(|\.(?:split|join|map|concat|charCodeAt)\(/;

/** The language of a script without tags around it; undefined for shell scripts, whose words are not expressions. */
function languageOf(text: string): Language | undefined {
  if (/^#![^\n]{0,60}sh\b/.test(text)) return undefined;
  if (PYTHON.test(text)) return 'python';
  if (VISUAL_BASIC.test(text) && !/;[ \t]{0,8}\r?\n|\bvar\s|\$\w+\s{0,4}=/.test(text)) return 'visual-basic';
  if (/^\s{0,32}&\s{0,4}\(/.test(text) || (POWERSHELL.test(text) && !JAVASCRIPT.test(text) && !METHODS.test(text)))
    return 'powershell';
  return 'javascript';
}

/** The parts of a text that are scripts, in their order. */
export function* partsOfScript(text: string): Generator<Part> {
  let count = 0;
  let is_marked = false;
  let end = 0;
  for (const { 0: open, 1: attributes = '', index } of text.matchAll(ELEMENT)) {
    is_marked = true;
    if (index < end) continue;
    count += 1;
    if (count > ELEMENTS_MAXIMUM) return;
    const behind = index + open.length;
    const start = behind + (/^\s{0,64}<!\[CDATA\[/.exec(text.slice(behind, behind + 80))?.[0].length ?? 0);
    const length = text.slice(start).search(ELEMENT_END);
    end = length < 0 ? text.length : start + length;
    yield { language: /vbs/i.test(attributes) ? 'visual-basic' : 'javascript', start, end };
  }
  if (is_marked) return;
  end = 0;
  for (const { 0: open, index } of text.matchAll(BLOCK)) {
    is_marked = true;
    if (index < end) continue;
    count += 1;
    if (count > ELEMENTS_MAXIMUM) return;
    const closed = text.indexOf(open.startsWith('<?') ? '?>' : '%>', index);
    end = closed < 0 ? text.length : closed;
    yield { language: open.startsWith('<?') ? 'php' : 'visual-basic', start: index + open.length, end };
  }
  if (is_marked) return;
  const language = languageOf(text);
  if (language !== undefined) yield { language, start: 0, end: text.length };
}
