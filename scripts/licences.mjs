// Allowed licences of packages.

/** Licences that allow everyone to use, change and redistribute works built with them. */
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

/** Packages whose licence field is not an SPDX expression. The licence texts were reviewed: `says` is the field in package.json, `is` the actual licence. */
const READ = new Map([
  // 7-Zip: LGPL with the restriction that it must not be used to build a RAR archiver. It is a separate file that users can replace.
  ['7z-wasm', { says: 'SEE LICENSE IN License.txt', is: 'LGPL-2.1-or-later with the unRAR restriction' }],
  ['incremental-encoder', { says: 'MPL 2.0', is: 'MPL-2.0' }],
]);

/**
 * Whether a package may be used. With OR at least one licence must be allowed, with AND all of them. An SPDX expression with
 * inner parentheses is not allowed; it must be reviewed and added to the list above.
 * @param {string} name @param {string | undefined} licence the field in its package.json
 */
export function isAllowed(name, licence) {
  if (licence === undefined) return false;
  if (READ.get(name)?.says === licence) return true;
  const choices = licence.replace(/^\(([^()]*)\)$/, '$1').split(' OR ');
  return choices.some((choice) => choice.split(' AND ').every((id) => ALLOWED.has(id)));
}

/** The licence as shown in the notices. @param {string} name @param {string} licence */
export function licenceShown(name, licence) {
  const read = READ.get(name);
  return read?.says === licence ? read.is : licence;
}
