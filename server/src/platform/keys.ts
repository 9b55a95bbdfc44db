import { createHmac } from 'node:crypto';
import type { Kysely } from 'kysely';
import { claimFact, type InstallationTables, readFact, writeFact } from './installation.ts';
import { openKeyFile, readKeyFile } from './key-file.ts';
import type { Settings } from './settings.ts';

/** A key of the installation, and the consequence of losing it. */
export interface InstallationKey {
  name: 'quarantine' | 'two-factor' | 'audit';
  /** The setting that names its file. */
  setting: string;
  path: string;
  /** The consequence of losing the key, phrased to follow "Without it". */
  lost: string;
}

/** A key that differs from the one that the database was used with. `message` says in one line the consequence and the remedy. */
class KeyError extends Error {
  override name = 'KeyError';
}

/** Every key of the installation. */
export function installationKeys(
  settings: Pick<Settings, 'quarantine_key_file' | 'two_factor_key_file' | 'audit_key_file'>,
): readonly InstallationKey[] {
  return [
    {
      name: 'quarantine',
      setting: 'QUARANTINE_KEY_FILE',
      path: settings.quarantine_key_file,
      lost: 'quarantined files can’t be opened',
    },
    {
      name: 'two-factor',
      setting: 'TWO_FACTOR_KEY_FILE',
      path: settings.two_factor_key_file,
      lost: 'authenticator codes don’t work (recovery codes and passkeys do)',
    },
    {
      name: 'audit',
      setting: 'AUDIT_KEY_FILE',
      path: settings.audit_key_file,
      lost: 'the audit log can’t be checked or extended',
    },
  ];
}

const factOf = ({ name }: InstallationKey) => `key_check.${name}`;

/** A value that identifies a key without revealing it. */
function checkValue({ name }: InstallationKey, key: Buffer): string {
  return createHmac('sha256', key).update(`palisade key check 1 ${name}`).digest('hex');
}

function refusal({ name, setting, path, lost }: InstallationKey, fault: string): KeyError {
  return new KeyError(
    `The key file ${path} ${fault}. Without its key, ${lost}. Restore the file. Servers that share a database need the same file: copy it, or set ${setting}. ` +
      `To give the locked data up for good: palisade accept-keys ${name}`,
  );
}

/**
 * Opens a key, and creates it if the database knows none yet. Never replaces a key that the database knows. @throws KeyError when the file is missing, or holds another key
 * than the database was used with.
 */
async function openKey(database: Kysely<InstallationTables>, installed: InstallationKey): Promise<Buffer> {
  const known = await readFact(database, factOf(installed));
  if (known === undefined) {
    const key = openKeyFile(installed.path);
    const mine = checkValue(installed, key);
    // Of several servers that start for the first time at once, one writes its key first.
    if ((await claimFact(database, factOf(installed), mine)) || (await readFact(database, factOf(installed))) === mine)
      return key;
    throw refusal(installed, 'has a different key than this database');
  }
  return knownKey(installed, known);
}

function knownKey(installed: InstallationKey, known: string | undefined): Buffer {
  const key = readKeyFile(installed.path);
  if (key === undefined) throw refusal(installed, 'is missing');
  if (known !== undefined && checkValue(installed, key) !== known)
    throw refusal(installed, 'has a different key than this database');
  return key;
}

/** Opens every key, so that a server either has all keys that its database was used with, or does not start. @throws KeyError */
export async function openKeys(
  database: Kysely<InstallationTables>,
  installed: readonly InstallationKey[],
): Promise<Record<InstallationKey['name'], Buffer>> {
  const keys = new Map<string, Buffer>();
  for (const key of installed) keys.set(key.name, await openKey(database, key));
  const found = (name: InstallationKey['name']) => {
    const key = keys.get(name);
    if (key === undefined) throw new KeyError(`There is no key named ${name}.`);
    return key;
  };
  return { quarantine: found('quarantine'), 'two-factor': found('two-factor'), audit: found('audit') };
}

/** Reads a key for a read-only command, without creating it. @throws KeyError */
export async function readKey(database: Kysely<InstallationTables>, installed: InstallationKey): Promise<Buffer> {
  return knownKey(installed, await readFact(database, factOf(installed)));
}

/** Makes the database accept the key in the file, which is created if missing. Returns that key, and whether it differs from the previous one. */
export async function acceptKey(
  database: Kysely<InstallationTables>,
  installed: InstallationKey,
): Promise<{ key: Buffer; is_other: boolean }> {
  const known = await readFact(database, factOf(installed));
  const key = openKeyFile(installed.path);
  const mine = checkValue(installed, key);
  await writeFact(database, factOf(installed), mine);
  return { key, is_other: known !== mine };
}
