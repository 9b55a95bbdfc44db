import { parseArgs } from 'node:util';
import { type AuditMark, verifyAudit } from '#platform/audit-verify.ts';
import { openWitness } from '#platform/audit-witness.ts';
import { installationKeys, readKey } from '#platform/keys.ts';
import { fail, prepare, say, withDatabase } from './command.ts';

// `npm run audit:verify`: checks the audit log of the database that the settings name, whether a server runs on it or not. Ends with 0 when all of it holds.
// `npm run audit:verify -- --head 120:9f...` also checks that a head that was noted before is still in it.

const NOTED = /^(\d{1,15}):([\da-f]{64})$/;

function readNoted(): AuditMark | undefined {
  const { head } = parseArgs({ options: { head: { type: 'string' } } }).values;
  if (head === undefined) return undefined;
  const [, seq = '', hash = ''] =
    NOTED.exec(head) ?? fail('--head must be what an earlier run printed as the head: a number, ":", and 64 hex digits.');
  return { seq: Number(seq), hash, by: 'the noted head' };
}

try {
  const noted = readNoted();
  const settings = prepare();
  await withDatabase(settings, async (database) => {
    const installed = installationKeys(settings).find(({ name }) => name === 'audit') ?? fail('There is no audit key.');
    const key = await readKey(database.$pickTables<'installation'>(), installed);
    const witness = openWitness(settings.audit_witness_file, key).read();
    const marks = [noted, witness].filter((mark) => mark !== undefined);
    const { entries, head, checked_from, keyed_from, fault } = await verifyAudit(
      database.$pickTables<'audit_entries' | 'audit_head'>(),
      { key, marks },
    );
    const count = entries - checked_from + 1;
    if (fault !== null) fail(`The audit log does not hold. Entry ${fault.seq}: ${fault.reason} ${count} entries before it hold.`);
    say(`The audit log holds: ${count} entries, each sealed over the one before it.`);
    if (checked_from > 1)
      say(
        `Entries before ${checked_from} were not checked: they were removed after their time, or sealed with a key that was replaced.`,
      );
    if (keyed_from !== null && keyed_from > checked_from)
      say(
        `Entries before ${keyed_from} are from before the log had a key: what was changed in them before the upgrade is not found.`,
      );
    if (witness === undefined)
      say(
        'No server has noted the end of the log in this DATA_DIR, so an end that was cut off is not found here: run this where a server runs.',
      );
    else say(`The entry that the server has noted outside of the database, ${witness.seq}, is in it.`);
    if (noted !== undefined && noted.seq < checked_from - 1)
      say(`The noted head is of an entry that was removed: it was not compared.`);
    say(`Head, to be noted elsewhere and given to --head later: ${head}`);
  });
  process.exit(0);
} catch (error) {
  fail(`The audit log could not be read: ${error instanceof Error ? error.message : String(error)}`);
}
