import { sealWithAnotherKey } from '#platform/audit.ts';
import { verifyAudit } from '#platform/audit-verify.ts';
import { openWitness } from '#platform/audit-witness.ts';
import { acceptKey, installationKeys } from '#platform/keys.ts';
import { fail, prepare, say, withDatabase } from '#server/command.ts';

/** Makes the database accept the current key files; missing ones are created. Data encrypted with other keys stays lost. The server must be stopped. */
export async function run(names: string[]): Promise<void> {
  const settings = prepare({ as: 'command' });
  const known = installationKeys(settings);
  const unknown = names.find((name) => !known.some((key) => key.name === name));
  if (names.length === 0 || unknown !== undefined) {
    fail(
      `${unknown === undefined ? 'Name the keys to accept' : `There is no key named ${unknown}`}: palisade accept-keys ${known.map(({ name }) => name).join(' ')}`,
    );
  }

  try {
    await withDatabase(settings, async (database) => {
      for (const installed of known.filter(({ name }) => names.includes(name))) {
        const { key, is_other } = await acceptKey(database.$pickTables<'installation'>(), installed);
        say(
          `${installed.name}: the key in ${installed.path} ${is_other ? 'is accepted. Data locked with the previous key stays lost.' : 'is already the one in the database.'}`,
        );
        if (installed.name !== 'audit') continue;
        const log = database.$pickTables<'audit_entries' | 'audit_head'>();
        if (is_other) await sealWithAnotherKey(log, key);
        const { entries, head, fault } = await verifyAudit(log, { key });
        if (fault !== null)
          fail(
            `The audit log failed its check and wasn’t accepted. Entry ${fault.seq}: ${fault.reason} Restore a complete copy of the database.`,
          );
        openWitness(settings.audit_witness_file, key).write({ seq: entries, hash: head.slice(head.indexOf(':') + 1) });
        say(`audit: the log is accepted up to entry ${entries}.`);
      }
    });
    process.exit(0);
  } catch (error) {
    fail(`We couldn’t accept the keys: ${error instanceof Error ? error.message : String(error)}`);
  }
}
