// Finds sentences that JSX joins from parts: words next to a value or an inline element. Such sentences cannot be translated, because other languages need another order.
// Correct are a single text, or a <Sentence> with its parts (web/src/ui/sentence.tsx).
import { parseSync } from 'vite';

/** Inline elements. */
const INLINE = new Set([
  ...['a', 'b', 'bdi', 'code', 'em', 'i', 'kbd', 'small', 'span', 'strong', 'time'],
  ...['Countdown', 'EmailLink', 'FileName', 'Link', 'LongText', 'Moment', 'Person', 'PhoneLink', 'ScreenLink'],
]);
/** A text with words: at least two letters, and not a path. */
const WORDS = /^(?!\s*\/).*\p{L}{2}/su;
/** Text that ends a sentence or introduces a value. */
const ENDED = /[.!?:…]["”’)]*\s*$/u;
const BEGINS = /^\s*["“(]?\p{Lu}/u;

/**
 * @typedef {{ type: string, [key: string]: any }} Node
 * @typedef {(string | undefined)[] | 'element' | 'block'} Part The texts that may be shown, undefined for a value; or an element.
 */

/** The texts that an expression can evaluate to; undefined for a value. @param {Node} node @returns {(string | undefined)[]} */
function textsOf(node) {
  switch (node.type) {
    case 'Literal':
      return typeof node['value'] === 'string' ? [node['value']] : [];
    case 'TemplateLiteral':
      return [node['quasis'].map((/** @type {Node} */ quasi) => quasi['value'].cooked).join('…')];
    case 'ConditionalExpression':
      return [...textsOf(node['consequent']), ...textsOf(node['alternate'])];
    case 'LogicalExpression':
      return textsOf(node['right']);
    case 'ParenthesizedExpression':
      return textsOf(node['expression']);
    case 'JSXElement':
    case 'JSXFragment':
    case 'JSXEmptyExpression':
      return [];
    default:
      return [undefined];
  }
}

/** @param {Node} child @returns {Part} */
function partOf(child) {
  if (child.type === 'JSXText') return [child['value'].replaceAll(/\s*\n\s*/gu, ' ')];
  if (child.type === 'JSXExpressionContainer') {
    const texts = textsOf(child['expression']);
    return texts.length === 0 ? 'block' : texts;
  }
  if (child.type !== 'JSXElement') return 'block';
  const { name, attributes } = child['openingElement'];
  const isHidden = attributes.some((/** @type {Node} */ attribute) => attribute['name']?.name === 'aria-hidden');
  return INLINE.has(name.name) && !isHidden ? 'element' : 'block';
}

/** Whether a sentence begins in `left` and continues in `right`. @param {Part} left @param {Part} right */
function runsOn(left, right) {
  if (left === 'block' || right === 'block') return false;
  const before = left === 'element' ? [undefined] : left;
  const after = right === 'element' ? [undefined] : right;
  const words = [...before, ...after].filter((text) => text !== undefined && WORDS.test(text));
  if (words.length === 0) return false;
  const isEnded = before.every((text) => text !== undefined && ENDED.test(text));
  const isBegun = after.every((text) => text !== undefined && BEGINS.test(text));
  return !isEnded && !isBegun;
}

/** @param {Node} node */
function isJoined(node) {
  /** @type {Part[]} */
  const parts = node['children'].map(partOf);
  // Spaces between parts are ignored.
  const shown = parts.filter((part) => !(Array.isArray(part) && part.every((text) => text?.trim() === '')));
  return shown.some((part, at) => at > 0 && runsOn(shown[at - 1] ?? 'block', part));
}

/** The joined sentences of a source file, with their line numbers. @param {string} path @param {string} source */
export function joinedSentencesOf(path, source) {
  const { program } = parseSync(path, source);
  /** @type {{ line: number, jsx: string }[]} */
  const found = [];
  /** @param {any} node */
  const walk = (node) => {
    if (node === null || typeof node !== 'object') return;
    if (Array.isArray(node)) {
      for (const one of node) walk(one);
      return;
    }
    if ((node.type === 'JSXElement' || node.type === 'JSXFragment') && isJoined(node)) {
      const line = source.slice(0, node.start).split('\n').length;
      found.push({ line, jsx: source.slice(node.start, node.end).replaceAll(/\s+/gu, ' ') });
    }
    for (const [key, value] of Object.entries(node)) if (key !== 'parent') walk(value);
  };
  walk(program.body);
  return found;
}
