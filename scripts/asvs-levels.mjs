// The requirements of OWASP ASVS 5.0.0 at levels 1 and 2, by their level: its chapters, with `section.requirement` each.

/** @type {Record<string, { 1?: string, 2?: string }>} */
const CHAPTERS = {
  1: { 1: '2.1-5 3.1-2 5.1', 2: '1.1-2 2.6-9 3.3-11 4.1-3 5.2' },
  2: { 1: '1.1 2.1-2 3.1', 2: '1.2-3 2.3 3.2-4 4.1' },
  3: { 1: '2.1-2 3.1 4.1-2 5.1-3', 2: '3.2-4 4.3-6 5.4-5 7.1-2' },
  4: { 1: '1.1 4.1', 2: '1.2-3 2.1 3.1-2 4.2-4' },
  5: { 1: '2.1-2 3.1-2', 2: '1.1 2.3 4.1-3' },
  6: { 1: '1.1 2.1-8 3.1-2 4.1-2', 2: '1.2-3 2.9-12 3.3-4 4.3-4 5.1-5 6.1-3 8.1-4' },
  7: { 1: '2.1-4 4.1-2', 2: '1.1-3 3.1-2 4.3-5 5.1-2 6.1-2' },
  8: { 1: '1.1 2.1-2 3.1', 2: '1.2 2.3 4.1' },
  9: { 1: '1.1-3 2.1', 2: '2.2-4' },
  10: { 1: '4.1-5', 2: '1.1-2 2.1-2 3.1-4 4.6-11 5.1-5 6.1-2 7.1-3' },
  11: { 1: '3.1-2 4.1', 2: '1.1-2 2.1-3 3.3 4.2-4 5.1 6.1' },
  12: { 1: '1.1 2.1-2', 2: '1.2-3 3.1-4' },
  13: { 1: '4.1', 2: '1.1 2.1-5 3.1-2 4.2-5' },
  14: { 1: '2.1 3.1', 2: '1.1-2 2.2-4 3.2-3' },
  15: { 1: '1.1 2.1 3.1', 2: '1.2-3 2.2-3 3.2-7' },
  16: { 2: '1.1 2.1-5 3.1-4 4.1-3 5.1-3' },
  17: { 2: '1.1 2.1-4 3.1-2' },
};

/** Every requirement's level, by its id (`6.2.12`). */
export const ASVS_LEVELS = new Map(
  Object.entries(CHAPTERS).flatMap(([chapter, levels]) =>
    Object.entries(levels).flatMap(([level, ranges]) =>
      ranges.split(' ').flatMap((range) => {
        const [, section = '', first = '', last = first] = /^(\d+)\.(\d+)(?:-(\d+))?$/.exec(range) ?? [];
        return Array.from({ length: Number(last) - Number(first) + 1 }, (_, index) => {
          const id = `${chapter}.${section}.${Number(first) + index}`;
          return /** @type {[string, number]} */ ([id, Number(level)]);
        });
      }),
    ),
  ),
);
