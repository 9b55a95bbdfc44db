import { readFileSync } from 'node:fs';
import { type Build, buildSchema } from '@palisade/contract/platform';

const UNKNOWN = 'unknown';

/** Which commit the running program was built from, as the build step wrote it beside the bundle; `unknown` for the source tree, and for a build outside of git. */
export function readBuild(file: URL = new URL('./build.json', import.meta.url)): Build {
  try {
    return buildSchema.parse(JSON.parse(readFileSync(file, 'utf8')));
  } catch {
    return { commit: UNKNOWN, committed_at: UNKNOWN };
  }
}
