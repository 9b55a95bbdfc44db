/** `PALISADE_LONG=1`, as the nightly run has it: more of what only repeats, by chance or over more files. */
const IS_LONG = process.env['PALISADE_LONG'] === '1';

export const runs = (usual: number, long: number): number => (IS_LONG ? long : usual);
