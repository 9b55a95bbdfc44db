// The licences that packages of this project may have. Expressions are those of SPDX (annex D of its specification 2.3).

/** Licences that let everybody run, change and pass on what is built with them. */
const ALLOWED = new Set([
  '0BSD',
  'Apache-2.0',
  'BlueOak-1.0.0',
  'BSD-2-Clause',
  'BSD-3-Clause',
  'CC0-1.0',
  'ISC',
  'MIT',
  'MIT-0',
  'MPL-2.0',
  'OFL-1.1',
]);

/** Licences that are no SPDX expression, by package: each was read. The key is what package.json says, `is` what the text of the licence is. */
const READ = new Map([
  // 7-Zip: LGPL which forbids to build a RAR archiver from it. It is a separate file that a user can replace.
  ['7z-wasm', { says: 'SEE LICENSE IN License.txt', is: 'LGPL-2.1-or-later with the unRAR restriction' }],
  ['incremental-encoder', { says: 'MPL 2.0', is: 'MPL-2.0' }],
]);

/** @typedef {{ id: string } | { all: Expression[] } | { any: Expression[] }} Expression */

/**
 * Parses an SPDX expression: ids with + and WITH, AND before OR, parentheses.
 * @param {string} text @returns {Expression | undefined} undefined for a text that is no expression
 */
export function parseExpression(text) {
  const tokens = text.match(/[()]|[^\s()]+/g) ?? [];
  let at = 0;
  /** @param {string} word */
  const take = (word) => {
    const is_there = tokens[at] === word;
    if (is_there) at += 1;
    return is_there;
  };
  /** @returns {Expression | undefined} */
  const simple = () => {
    if (take('(')) {
      const inner = any();
      return take(')') ? inner : undefined;
    }
    const id = tokens[at] ?? '';
    if (!/^[A-Za-z0-9][A-Za-z0-9.:-]*\+?$/.test(id) || /^(AND|OR|WITH)$/.test(id)) return undefined;
    at += 1;
    if (!take('WITH')) return { id };
    const exception = tokens[at++] ?? '';
    return /^[A-Za-z0-9][A-Za-z0-9.-]*$/.test(exception) ? { id: `${id} WITH ${exception}` } : undefined;
  };
  /** @param {string} word @param {() => Expression | undefined} part @param {(parts: Expression[]) => Expression} join */
  const list = (word, part, join) => {
    const parts = [part()];
    while (take(word)) parts.push(part());
    const known = parts.filter((one) => one !== undefined);
    if (known.length < parts.length) return undefined;
    return known.length === 1 ? known[0] : join(known);
  };
  /** @returns {Expression | undefined} */
  const all = () => list('AND', simple, (parts) => ({ all: parts }));
  /** @returns {Expression | undefined} */
  const any = () => list('OR', all, (parts) => ({ any: parts }));
  const whole = any();
  return at === tokens.length ? whole : undefined;
}

/** @param {Expression} expression @returns {boolean} */
function isSatisfied(expression) {
  if ('all' in expression) return expression.all.every(isSatisfied);
  if ('any' in expression) return expression.any.some(isSatisfied);
  return ALLOWED.has(expression.id);
}

/**
 * Tells whether a package may be used. Of licences to choose from (OR), one has to be allowed; of licences that hold together (AND), each.
 * @param {string} name @param {string | undefined} licence what its package.json says
 */
export function isAllowed(name, licence) {
  if (licence === undefined) return false;
  if (READ.get(name)?.says === licence) return true;
  const expression = parseExpression(licence);
  return expression !== undefined && isSatisfied(expression);
}

/** The licence as notices say it. @param {string} name @param {string} licence */
export function licenceShown(name, licence) {
  const read = READ.get(name);
  return read?.says === licence ? read.is : licence;
}
