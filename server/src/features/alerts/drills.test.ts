import { alertEnglish } from '@palisade/contract/alert-phrases';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { drill } from './drills.ts';

test('a drill accuses no real address', () => {
  const chance = fc.double({ min: 0, max: 1, maxExcluded: true, noNaN: true });
  fc.assert(
    fc.property(chance, chance, chance, (...chances) => {
      const { ip_address, phrase } = drill(() => chances.shift() ?? 0);
      expect(alertEnglish(phrase)).not.toBe('');
      if (ip_address !== null) expect(ip_address).toMatch(/^(192\.0\.2|198\.51\.100|203\.0\.113)\.\d{1,3}$/);
    }),
  );
});
