// Collects all sentences on screens, in error messages and in mails, by source file.
import { readdirSync, readFileSync } from 'node:fs';
import { join, relative } from 'node:path';
import { parseSync } from 'vite';
import { ROOT } from './node-runtime.mjs';

const FOLDERS = ['web/src', 'contract/src', 'server/src', 'scanner/src', 'scam/src', 'names/src'];
/** JSX attributes whose text is not shown to people. */
const FOR_MACHINES = new Set(['className', 'id', 'href', 'to', 'key', 'type', 'viewBox', 'd', 'rel', 'src', 'htmlFor', 'name']);
/** Functions whose text is not shown to people: logs, API descriptions, SQL, selectors. */
const MACHINE_CALLS = new Set('describe debug info warn error fatal sql querySelector querySelectorAll closest'.split(' '));
const MACHINE_FIELDS = new Set(['summary', 'queryKey', 'path', 'className', 'fontFamily', 'gridTemplateColumns']);
const LEAST_LETTERS = 3;

/** @param {string} folder @returns {string[]} */
function sourcesIn(folder) {
  return readdirSync(folder, { withFileTypes: true, recursive: true })
    .filter((entry) => entry.isFile() && /\.tsx?$/u.test(entry.name))
    .map((entry) => join(entry.parentPath, entry.name))
    .filter(
      (path) =>
        !/\.test\.|\.d\.ts$|fake-|test-setup|render-for-test|scanner\/src\/(?!(?:engine\/clamd-self-test|formats\/format|engine\/filename|rules\/hash-list|formats\/documents\/ole|rules\/prepare-feed|walk\/unclaimed-ranges)\.ts)|scam\/src\/(?!(?:advice|sentences)\.ts)|hostile|samples/u.test(
          path,
        ),
    )
    .sort();
}

/** Whether a text looks like words for people: a sentence, or a label that begins with a capital and contains a space or is one word. @param {string} text */
function isForPeople(text) {
  if (!/\p{L}{2}/u.test(text) || text.length < LEAST_LETTERS) return false;
  // File signatures contain control characters.
  if (/[^\P{Cc}\n\t]/u.test(text)) return false;
  if (
    /^[a-z0-9_./:#@[\]-]+$/u.test(text) ||
    /^[A-Z0-9_]+$/u.test(text) ||
    /^(?:var\(|https?:|--|\.|\/|image\/|application\/)/u.test(text)
  )
    return false;
  // SQL and Redis commands.
  if (/^(?:is not|not in|begin exclusive)$|redis\.call/u.test(text)) return false;
  if (/[{}<>]|=>|\bselect\b.*\bfrom\b|::|\\|^\$|\bnot null\b/u.test(text)) return false;
  return /\s/u.test(text) ? /^[\p{Lu}\p{N}“"'’…(]|^[ ,.:;–-]|\p{L} \p{L}/u.test(text) : /^\p{Lu}\p{Ll}+[.!?…:]?$/u.test(text);
}

/** The sentences of a source file in order, without duplicates. @param {string} path @param {string} [source] @returns {string[]} */
export function sentencesOf(path, source = readFileSync(path, 'utf8')) {
  const { program } = parseSync(path, source);
  /** @type {string[]} */
  const found = [];
  /** @param {string} text */
  const say = (text) => {
    // A placeholder of a template becomes `…`.
    const plain = text
      .replace(/\{\w+\}/gu, '…')
      .replace(/\s+/gu, ' ')
      .trim();
    if (isForPeople(plain) && !found.includes(plain)) found.push(plain);
  };
  /** Adds the lines of an article or a mail, without markup of lists and headings. @param {string} text */
  const sayLines = (text) => {
    if (!text.includes('\n')) say(text);
    else if (isForPeople(text.replace(/\s+/gu, ' ').trim()))
      for (const line of text.split('\n')) say(line.replace(/^\s*(?:#+|[-*]|\d+\.)\s+/u, ''));
  };
  let isEndpoint = false;
  /** @param {any} node @returns {string} */
  const textOf = (node) =>
    node.type === 'TemplateLiteral'
      ? node.quasis.map((/** @type {any} */ part) => part.value.cooked ?? '').join('…')
      : node.type === 'BinaryExpression' && node.operator === '+'
        ? textOf(node.left) + textOf(node.right)
        : node.type === 'Literal' && typeof node.value === 'string'
          ? node.value
          : '…';
  /** @param {any} node */
  const walk = (node) => {
    if (node === null || typeof node !== 'object') return;
    if (Array.isArray(node)) {
      for (const one of node) walk(one);
      return;
    }
    switch (node.type) {
      case 'ImportDeclaration':
      case 'ExportAllDeclaration':
      case 'TSTypeAnnotation':
      case 'TSTypeAliasDeclaration':
      case 'TSInterfaceDeclaration':
      case 'TaggedTemplateExpression':
        return;
      case 'CallExpression':
        if (MACHINE_CALLS.has(node.callee.property?.name ?? node.callee.name)) return;
        break;
      case 'ObjectExpression': {
        const outer = isEndpoint;
        isEndpoint = node.properties.some((/** @type {any} */ property) => property.key?.name === 'method');
        for (const property of node.properties) walk(property);
        isEndpoint = outer;
        return;
      }
      case 'Property':
        // The summary of an endpoint is part of the API description; the summary of a help article is shown to people.
        if (MACHINE_FIELDS.has(node.key.name) && (node.key.name !== 'summary' || isEndpoint)) return;
        break;
      case 'JSXAttribute':
        if (FOR_MACHINES.has(node.name.name)) return;
        break;
      case 'JSXText':
        say(node.value);
        return;
      case 'JSXElement':
      case 'JSXFragment': {
        // Inline elements and values are part of a sentence: <b>, <bdi>, {figures}.
        const whole = node.children
          .map((/** @type {any} */ child) =>
            child.type === 'JSXText'
              ? child.value
              : child.type === 'JSXExpressionContainer' && child.expression.type === 'Literal'
                ? child.expression.value
                : '…',
          )
          .join('');
        if (node.children.some((/** @type {any} */ child) => child.type === 'JSXText' && isForPeople(child.value.trim())))
          say(whole);
        for (const child of node.children) if (child.type !== 'JSXText') walk(child);
        walk(node.openingElement?.attributes ?? []);
        return;
      }
      case 'Literal':
      case 'TemplateLiteral':
        sayLines(textOf(node));
        walk(node.expressions);
        return;
      case 'BinaryExpression':
        if (node.operator === '+') {
          say(textOf(node));
          return;
        }
        break;
    }
    for (const [key, value] of Object.entries(node)) if (key !== 'parent') walk(value);
  };
  walk(program.body);
  return found;
}

/** All sentences by file. @returns {{ path: string, sentences: string[] }[]} */
export function allSentences() {
  return FOLDERS.flatMap((folder) => sourcesIn(join(ROOT, folder)))
    .map((path) => ({ path: relative(ROOT, path), sentences: sentencesOf(path) }))
    .filter(({ sentences }) => sentences.length > 0);
}
