import { existsSync, readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { fail } from './command.ts';

// The settings of the systemd unit, for the commands beside the server.

/** As deploy/palisade.service has them. */
const SERVICE = {
  unit: '/etc/systemd/system/palisade.service',
  settings: '/etc/palisade/palisade.env',
  data_dir: '/var/lib/palisade',
};

/** A comment, or a name with quoted parts and an unquoted rest; a backslash takes the next character along, a line break too. */
const LINE =
  /[ \t]*(?:[#;](?:\\[\s\S]|[^\\\n])*|([^=\s#;]+)[ \t]*=((?:[ \t]*(?:'[^']*'|"(?:\\[\s\S]|[^\\"])*"))*)[ \t]*((?:\\[\s\S]|[^\\\n])*)|[^\n]*)(?:\n|$)/gu;
const QUOTED = /'([^']*)'|"((?:\\[\s\S]|[^\\"])*)"/gu;

const withoutBreak = (character: string) => (character === '\n' ? '' : character);
/** Between double quotes a backslash stands for itself before other characters than these. */
const unquoted = (text: string) =>
  text.replaceAll(/\\([\s\S])/gu, (pair, next: string) => ('"\\`$\n'.includes(next) ? withoutBreak(next) : pair));

/**
 * Reads an `EnvironmentFile=` as systemd does (systemd.exec(5)). Node's own reader differs: it ends a value at `#`, which pins of signature feeds and passwords contain.
 */
export function parseEnvironmentFile(text: string): Record<string, string> {
  const settings: Record<string, string> = {};
  for (const [, name, quoted = '', rest = ''] of text.replaceAll('\r\n', '\n').matchAll(LINE)) {
    if (name === undefined) continue;
    const parts = [...quoted.matchAll(QUOTED)].map(([, single, double = '']) => single ?? unquoted(double));
    const bare = rest.replace(/(?<!\\)[ \t]+$/u, '').replaceAll(/\\([\s\S])/gu, (_, next: string) => withoutBreak(next));
    settings[name] = parts.join('') + bare;
  }
  return settings;
}

/** Takes the settings of the systemd unit, where it is installed and the environment names no other data folder than the unit's. */
export function takeServiceSettings(environment: NodeJS.ProcessEnv, service = SERVICE): void {
  const named = environment['DATA_DIR'];
  if ((named !== undefined && resolve(named) !== service.data_dir) || !existsSync(service.unit)) return;
  let settings: Record<string, string> = {};
  try {
    if (existsSync(service.settings)) settings = parseEnvironmentFile(readFileSync(service.settings, 'utf8'));
  } catch {
    fail(
      `We can’t read ${service.settings}. Run this as root, or let the group of the service read the file (chgrp palisade, chmod 640).`,
    );
  }
  for (const [name, value] of Object.entries({ DATA_DIR: service.data_dir, ...settings })) environment[name] ??= value;
}
