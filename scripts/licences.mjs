// The licences that packages of this project may have.

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

/**
 * Tells whether a package may be used. Of licences to choose from (OR), one has to be allowed; of licences that hold together (AND), each. An expression of SPDX with
 * parentheses inside is not allowed: read it, and list it above.
 * @param {string} name @param {string | undefined} licence what its package.json says
 */
export function isAllowed(name, licence) {
  if (licence === undefined) return false;
  if (READ.get(name)?.says === licence) return true;
  const choices = licence.replace(/^\(([^()]*)\)$/, '$1').split(' OR ');
  return choices.some((choice) => choice.split(' AND ').every((id) => ALLOWED.has(id)));
}

/** The licence as notices say it. @param {string} name @param {string} licence */
export function licenceShown(name, licence) {
  const read = READ.get(name);
  return read?.says === licence ? read.is : licence;
}
