import { readFileSync } from 'node:fs';

/** Lines of the table of screens that name a path. A screen for each record has no path of its own. */
const PATHS = /^ {4}path: '(\/[^':*]+)',$/gmu;

const table = readFileSync(new URL('../web/src/app/screens.tsx', import.meta.url), 'utf8');

/**
 * Every screen behind the sign-in, by its path: the first is where a customer's sign-in leads. The one list of journeys and measurements, read from the table of the
 * web application. The chat in a window of its own is no screen of the shell.
 */
export const SCREENS: readonly string[] = [...[...table.matchAll(PATHS)].flatMap(([, path]) => path ?? []), '/live-chat'];

/** The same after the screen where people sign in. */
export const SCREENS_AND_SIGN_IN: readonly string[] = ['/', ...SCREENS];
