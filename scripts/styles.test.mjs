// Every style sheet that has been fetched counts on every screen, so a class of one feature's that another one uses too changes both.
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { ROOT } from './node-runtime.mjs';

const FEATURES = join(ROOT, 'web/src/features');

/**
 * @param {string} feature
 * @param {RegExp} ending
 */
function textOf(feature, ending) {
  const folder = join(FEATURES, feature);
  const files = readdirSync(folder).filter((name) => ending.test(name));
  return files.map((name) => readFileSync(join(folder, name), 'utf8')).join('\n');
}

/** The part of a class's name that says whose it is: `mail-row` of `mail-row__when`. @param {Iterable<RegExpExecArray>} matches */
function blocksOf(matches) {
  const classes = [...matches].flatMap((match) => (match[1] ?? '').split(/\s+/u));
  return new Set(classes.map((name) => name.split('__')[0] ?? '').filter((name) => name !== ''));
}

test('no class of a feature’s style sheets is used by another feature', () => {
  const features = readdirSync(FEATURES).map((name) => {
    const sheets = textOf(name, /\.css$/u)
      .replaceAll(/\/\*[\s\S]*?\*\//gu, '')
      .replaceAll(/\([^()]*\)/gu, '()');
    return {
      name,
      // A rule for what is in one of its own elements, or is one of them as well, is its own.
      styled: blocksOf(sheets.matchAll(/(?:^|[{},])\s*\.([\w-]+)(?=[^.:\w-]|:(?!has\())/gu)),
      used: blocksOf(textOf(name, /(?<!\.test)\.tsx$/u).matchAll(/className="([^"]+)"/gu)),
    };
  });
  const shared = features.flatMap((owner) =>
    features
      .filter((other) => other !== owner)
      .flatMap((other) =>
        [...owner.styled]
          .filter((block) => other.used.has(block) || other.styled.has(block))
          .map((block) => `.${block}: ${owner.name} and ${other.name}`),
      ),
  );
  expect(shared).toEqual([]);
});
