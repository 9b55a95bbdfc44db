import { join } from 'node:path';
import { compileRules } from '#scanner/rules/rules.ts';
import { SIGNATURES_FOLDER } from './signatures-folder.ts';

/** The compiled rule pack. The test files of a process share it: compiling takes half a second of a core. */
export const packRules = await compileRules(join(SIGNATURES_FOLDER, 'rules'));
