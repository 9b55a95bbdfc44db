// Writes docs/sentences.md: every sentence that the product can say on a screen, in a refusal or in a mail, by the file that says it. To be read as a worried
// person reads them. `node scripts/sentences.mjs`; with `--check` it fails where the document is not what the sources say.
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join, relative } from 'node:path';
import { parseSync } from 'vite';
import { ROOT } from './node-runtime.mjs';

const DOCUMENT = join(ROOT, 'docs/sentences.md');
const PLACES = [
  { title: 'Screens', folder: 'web/src' },
  { title: 'What both sides say', folder: 'contract/src' },
  { title: 'Refusals, alerts and mails of the server', folder: 'server/src' },
  { title: 'What the scanner says of a file', folder: 'scanner/src' },
  { title: 'What the scam check says', folder: 'scam/src' },
];
/** Places in which a text is for a machine, or for who runs the server: attributes, logs, schemas of the API's document. */
const FOR_MACHINES = new Set(['className', 'id', 'href', 'to', 'key', 'type', 'viewBox', 'd', 'rel', 'src', 'htmlFor', 'name']);
const MACHINE_CALLS = new Set([
  'describe',
  'debug',
  'info',
  'warn',
  'error',
  'fatal',
  'sql',
  'querySelector',
  'querySelectorAll',
  'closest',
]);
const MACHINE_FIELDS = new Set(['summary', 'queryKey', 'path', 'className', 'fontFamily', 'gridTemplateColumns']);
const LEAST_LETTERS = 3;

/** @param {string} folder @returns {string[]} */
function sourcesIn(folder) {
  return readdirSync(folder, { withFileTypes: true, recursive: true })
    .filter((entry) => entry.isFile() && /\.tsx?$/u.test(entry.name))
    .map((entry) => join(entry.parentPath, entry.name))
    .filter(
      (path) =>
        !/\.test\.|\.d\.ts$|fake-|test-setup|render-for-test|scanner\/src\/(?!(?:clamd-self-test|containers|filename|hash-list|ole|prepare-feed|rests)\.ts)|scam\/src\/(?!(?:advice|sentences)\.ts)|hostile|samples/u.test(
          path,
        ),
    )
    .sort();
}

/** Whether a text reads as words for people: a sentence, or a label that begins with a capital and has a blank or is one word. @param {string} text */
function isForPeople(text) {
  if (!/\p{L}{2}/u.test(text) || text.length < LEAST_LETTERS) return false;
  // Marks of formats have zeros in them.
  if (/[^\P{Cc}\n\t]/u.test(text)) return false;
  if (
    /^[a-z0-9_./:#@[\]-]+$/u.test(text) ||
    /^[A-Z0-9_]+$/u.test(text) ||
    /^(?:var\(|https?:|--|\.|\/|image\/|application\/)/u.test(text)
  )
    return false;
  // Words of the database and of Redis.
  if (/^(?:is not|not in|begin exclusive)$|redis\.call/u.test(text)) return false;
  if (/[{}<>]|=>|\bselect\b.*\bfrom\b|::|\\|^\$|\bnot null\b/u.test(text)) return false;
  return /\s/u.test(text) ? /^[\p{Lu}\p{N}“"'’…(]|^[ ,.:;–-]|\p{L} \p{L}/u.test(text) : /^\p{Lu}\p{Ll}+[.!?…:]?$/u.test(text);
}

/** @param {string} path @returns {string[]} */
function sentencesOf(path) {
  const { program } = parseSync(path, readFileSync(path, 'utf8'));
  /** @type {string[]} */
  const found = [];
  /** @param {string} text */
  const say = (text) => {
    const plain = text.replace(/\s+/gu, ' ').trim();
    if (isForPeople(plain) && !found.includes(plain)) found.push(plain);
  };
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
      case 'Property':
        if (MACHINE_FIELDS.has(node.key.name)) return;
        break;
      case 'JSXAttribute':
        if (FOR_MACHINES.has(node.name.name)) return;
        break;
      case 'JSXText':
        say(node.value);
        return;
      case 'JSXElement':
      case 'JSXFragment': {
        // A sentence goes on over what is set in it: <b>, <bdi>, {figures}.
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
        say(textOf(node));
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

const lines = [
  '# Every sentence that the product can say',
  '',
  'Made by `node scripts/sentences.mjs` from the sources; `…` stands for what is put in. For reading as a worried person reads: no riddles, no machine words.',
];
let count = 0;
for (const { title, folder } of PLACES) {
  lines.push('', `## ${title}`);
  for (const path of sourcesIn(join(ROOT, folder))) {
    const sentences = sentencesOf(path);
    if (sentences.length === 0) continue;
    count += sentences.length;
    lines.push('', `### ${relative(ROOT, path)}`, '', ...sentences.map((sentence) => `- ${sentence.replaceAll('](', ']\\(')}`));
  }
}
const written = `${lines.join('\n')}\n`;
if (process.argv.includes('--check')) {
  if (readFileSync(DOCUMENT, 'utf8') !== written) {
    process.stdout.write('palisade: docs/sentences.md is not what the sources say. Run "node scripts/sentences.mjs".\n');
    process.exitCode = 1;
  }
} else {
  writeFileSync(DOCUMENT, written);
  process.stdout.write(`${count} sentences\n`);
}
