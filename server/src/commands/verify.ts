import { parseArgs } from 'node:util';
import { type AuditMark, verifyAudit } from '#platform/audit-verify.ts';
import { openWitness } from '#platform/audit-witness.ts';
import { installationKeys, readKey } from '#platform/keys.ts';
import { fail, prepare, say, withDatabase } from '#server/command.ts';

const NOTED = /^(\d{1,15}):([\da-f]{64})$/;

function readNoted(args: string[]): AuditMark | undefined {
  const { head } = parseArgs({ args, options: { head: { type: 'string' } } }).values;
  if (head === undefined) return undefined;
  const [, seq = '', hash = ''] =
    NOTED.exec(head) ?? fail('--head must be what an earlier run printed as the head: a number, ":", and 64 hex digits.');
  return { seq: Number(seq), hash, by: 'the saved head' };
}

/** Verifies the audit log of the database, also while a server runs. Exits with 0 if it is intact. `--head` is an earlier head, which the log must still contain. */
export async function run(args: string[]): Promise<void> {
  const noted = readNoted(args);
  try {
    const settings = prepare({ as: 'command' });
    await withDatabase(settings, async (database) => {
      const installed = installationKeys(settings).find(({ name }) => name === 'audit') ?? fail('The audit key is missing.');
      const key = await readKey(database.$pickTables<'installation'>(), installed);
      const witness = openWitness(settings.audit_witness_file, key).read();
      const marks = [noted, witness].filter((mark) => mark !== undefined);
      const { entries, head, checked_from, keyed_from, fault } = await verifyAudit(
        database.$pickTables<'audit_entries' | 'audit_head'>(),
        { key, marks },
      );
      const count = entries - checked_from + 1;
      if (fault !== null)
        fail(`The audit log failed its check. Entry ${fault.seq}: ${fault.reason} ${count} earlier entries are intact.`);
      say(`The audit log is intact: ${count} entries, each signed over the one before it.`);
      if (checked_from > 1) say(`Entries before ${checked_from} were not checked. They expired, or their key was replaced.`);
      if (keyed_from !== null && keyed_from > checked_from)
        say(`Entries before ${keyed_from} are older than the log’s key. Earlier changes to them can’t be detected.`);
      if (witness === undefined)
        say('This DATA_DIR has no saved end of the log, so a cut-off end can’t be detected. Run this on a server’s machine.');
      else say(`The log contains the entry that the server saved outside the database, ${witness.seq}.`);
      if (noted !== undefined && noted.seq < checked_from - 1) say(`The saved head’s entry has expired, so it was not compared.`);
      say(`Head, to save elsewhere and use with --head later: ${head}`);
    });
    process.exit(0);
  } catch (error) {
    fail(`We couldn’t read the audit log: ${error instanceof Error ? error.message : String(error)}`);
  }
}
