import { readFileSync } from 'node:fs';
import { type Build, buildSchema } from '@palisade/contract/platform';

const UNKNOWN = 'unknown';

/** The commit of the running program, which the build step wrote beside the bundle; `unknown` for the source tree, and for a build outside of git. */
export function readBuild(file: URL = new URL('./build.json', import.meta.url)): Build {
  try {
    return buildSchema.parse(JSON.parse(readFileSync(file, 'utf8')));
  } catch {
    return { commit: UNKNOWN, committed_at: UNKNOWN };
  }
}
