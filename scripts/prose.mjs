// Finds unclear constructions in comments, test names and Markdown. `node scripts/prose.mjs` lists them, and fails if there are any.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { parseSync } from 'vite';
import { ROOT } from './node-runtime.mjs';
import { projectFiles } from './project-files.mjs';

/** Allowed headings that begin like a clause. */
const STANDARD = new Set(['How it works']);

/** A relative clause in place of a noun at the beginning of a sentence or name. Allowed in questions. */
const CLAUSES = /^(?:who|whoever|whose|what|whatever|that which|where nothing|how|told (?:what|of|that|when))\b(?= \w+ \w)/i;
/** A negated subject. */
const NEGATED = /^(?:nobody|nobody's|nobody’s|nothing|none of)\b(?= \w+)/i;
const PHRASES =
  /\b(?:nobody['’]s|anybody['’]s|of ours|of theirs|(?:by|to|for|of|from) nobody|as ever|amid|comes to|came to(?! \w+ing)|is taken for|are taken for|taken for one|by itself|goes on|went on|holds good|told of|has it that|what is more|is none of|are none of)(?!\w)/i;

/**
 * A piece of prose and its location.
 * @typedef {{ file: string, line: number, text: string }} Passage
 * @typedef {Passage & { found: string }} Finding
 */

/** The words of the first fault in a sentence; undefined if there is none. @param {string} sentence */
export function faultOf(sentence) {
  const text = sentence.trim();
  if (STANDARD.has(text)) return undefined;
  if (text.endsWith('?')) return PHRASES.exec(text)?.[0];
  return (CLAUSES.exec(text) ?? NEGATED.exec(text) ?? PHRASES.exec(text))?.[0];
}

/** @param {string} text */
const withoutCode = (text) => text.replaceAll(/`[^`]*`/g, 'code').replaceAll(/\{@link [^}]*\}/g, 'code');

/** @param {Passage} passage @returns {Finding[]} */
function findingsIn(passage) {
  return withoutCode(passage.text)
    .split(/(?<=[.!?;])\s+(?=[\p{Lu}\d"“‘(])/u)
    .flatMap((sentence) => {
      const found = faultOf(sentence);
      return found === undefined ? [] : [{ ...passage, text: sentence.trim(), found }];
    });
}

/** Comments of a source file (consecutive line comments are joined) and names of tests. @param {string} file @param {string} source @returns {Passage[]} */
export function passagesOf(file, source) {
  const { program, comments, errors } = parseSync(file, source);
  if (errors.length > 0) throw new Error(`${file} does not parse: ${errors[0]?.message}`);
  const starts = [0];
  for (let at = source.indexOf('\n'); at >= 0; at = source.indexOf('\n', at + 1)) starts.push(at + 1);
  const lineAt = (/** @type {number} */ position) => starts.findLastIndex((start) => start <= position) + 1;
  /** @type {(Passage & { end: number })[]} */
  const passages = [];
  for (const { type, value, start, end } of comments) {
    const before = passages.at(-1);
    if (type === 'Line') {
      const text = value.trim();
      if (/^(?:biome-ignore|@ts-|proves:|\/ <)/.test(text)) continue;
      if (before !== undefined && /^\n[ \t]*$/.test(source.slice(before.end, start))) {
        before.text += ` ${text}`;
        before.end = end;
      } else passages.push({ file, line: lineAt(start), text, end });
      continue;
    }
    const text = value
      .split('\n')
      .map((line) => line.replace(/^\s*\*+ ?/, '').trim())
      .filter((line) => !line.startsWith('@') || /^@throws/.test(line))
      .map((line) => line.replace(/^@throws\s*/, ''))
      .join(' ')
      .trim();
    if (text !== '')
      passages.push({ file, line: lineAt(start), text: text.replace(/\s@(?:param|returns|type|typedef|throws)\b.*$/, ''), end });
  }
  /** @param {any} node */
  const walk = (node) => {
    if (node === null || typeof node !== 'object') return;
    if (Array.isArray(node)) {
      for (const one of node) walk(one);
      return;
    }
    if (node.type === 'CallExpression') {
      let callee = node.callee;
      while (callee.type === 'CallExpression' || callee.type === 'MemberExpression')
        callee = callee.type === 'CallExpression' ? callee.callee : callee.object;
      const [name] = node.arguments;
      const text =
        name?.type === 'Literal'
          ? name.value
          : name?.type === 'TemplateLiteral'
            ? name.quasis.map((/** @type {any} */ part) => part.value.cooked).join('x')
            : undefined;
      if (['test', 'it', 'describe'].includes(callee.name) && typeof text === 'string')
        passages.push({ file, line: lineAt(node.start), text, end: node.end });
    }
    for (const [key, value] of Object.entries(node)) if (key !== 'parent') walk(value);
  };
  if (/\.(?:test|spec)\.\w+$/.test(file)) walk(program.body);
  return passages.map(({ end: _end, ...passage }) => passage);
}

/** Paragraphs, list items, headings and table cells of a document. @param {string} file @param {string} text @returns {Passage[]} */
export function paragraphsOf(file, text) {
  const plain = text
    .replaceAll(/```.*?```/gs, (code) => code.replaceAll(/[^\n]/g, ''))
    .replaceAll(/\[([^\]]*)\]\([^)]*\)/g, '$1')
    .replaceAll(/[*_]{1,2}(?=\S)|(?<=\S)[*_]{1,2}/g, '');
  /** @type {Passage[]} */
  const passages = [];
  let isOpen = false;
  for (const [index, line] of plain.split('\n').entries()) {
    const words = line.replace(/^\s*(?:#+|[-*]|\d+\.|>)\s+/, '').trim();
    if (/^\s*\|/.test(line)) {
      for (const cell of line.split('|')) if (cell.trim() !== '') passages.push({ file, line: index + 1, text: cell.trim() });
      isOpen = false;
    } else if (words === '') isOpen = false;
    else if (isOpen && !/^\s*(?:#+|[-*]|\d+\.|>)\s/.test(line)) {
      const before = passages.at(-1);
      if (before !== undefined) before.text += ` ${words}`;
    } else {
      passages.push({ file, line: index + 1, text: words });
      isOpen = !/^#/.test(line);
    }
  }
  return passages;
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? '').href) {
  const files = projectFiles().filter((file) => /\.(?:ts|tsx|mjs|md)$/.test(file) && file !== 'scripts/prose.test.mjs');
  const findings = files.flatMap((file) => {
    const text = readFileSync(join(ROOT, file), 'utf8');
    return (file.endsWith('.md') ? paragraphsOf(file, text) : passagesOf(file, text)).flatMap(findingsIn);
  });
  for (const { file, line, text, found } of findings) process.stdout.write(`${file}:${line}: [${found}] ${text}\n`);
  process.exitCode = findings.length > 0 ? 1 : 0;
}
