import { readFileSync } from 'node:fs';

/** Lines with `path` in the table of screens. Screens of single records have no fixed path. */
const PATHS = /^ {4}path: '(\/[^':*]+)',$/gmu;

const table = readFileSync(new URL('../web/src/app/screens.tsx', import.meta.url), 'utf8');

/**
 * Paths of all screens behind the sign-in, starting with the first screen of a customer. Read from the table of the web application, for journeys and measurements.
 * The separate chat window is not in the table.
 */
export const SCREENS: readonly string[] = [...[...table.matchAll(PATHS)].flatMap(([, path]) => path ?? []), '/live-chat'];

/** All screens including the sign-in screen. */
export const SCREENS_AND_SIGN_IN: readonly string[] = ['/', ...SCREENS];
