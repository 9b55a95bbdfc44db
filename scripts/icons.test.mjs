import { expect, test } from 'vitest';
import { iconsOfPackage, readKept } from './icons.mjs';

test('web/icons.json has the icons that the web application imports, as the package has them (node scripts/icons.mjs)', () => {
  expect(readKept()).toEqual(iconsOfPackage());
});

test('an icon is the module of the package', () => {
  const { icons, modules } = readKept();
  expect(Object.keys(icons).length).toBeGreaterThan(100);
  for (const path of Object.values(icons))
    expect(modules[path]).toMatch(/^import createReactComponent .*__iconNode as __iconNode|__iconNode, Icon\w+ as default/s);
});
