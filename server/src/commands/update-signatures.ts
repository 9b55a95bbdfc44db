import { join } from 'node:path';
import { pino } from 'pino';
import { createSharedSignatures, type SharedSignatures } from '#features/antivirus/shared-signatures.ts';
import { openSignatureStore } from '#features/antivirus/signature-store.ts';
import { updateSignatures } from '#features/antivirus/signature-update.ts';
import type { Settings } from '#platform/settings.ts';
import { SIGNATURES_IN_STORE, withStored } from '#server/app/storage.ts';
import { prepare, SIGNATURES_FOLDER, say, withDatabase } from '#server/command.ts';

/** Calls `work` with the signatures that servers share, or with undefined if there is no shared store. */
async function withShared<T>(settings: Settings, work: (shared: SharedSignatures | undefined) => Promise<T>): Promise<T> {
  if (settings.storage === undefined) return await work(undefined);
  return await withStored(settings, SIGNATURES_IN_STORE, (blobs) =>
    withDatabase(settings, (database) =>
      work(createSharedSignatures({ database: database.$pickTables<'installation'>(), blobs })),
    ),
  );
}

/** Updates the signatures of DATA_DIR once, also while a server runs. A running server loads them within a minute; with STORAGE_URL all servers of the database do. */
export async function run(): Promise<void> {
  const settings = prepare({ as: 'command' });
  if (settings.signature_feeds.length === 0) {
    say('SIGNATURE_FEEDS isn’t set. Palisade uses only its built-in rules.');
    process.exit(0);
  }

  try {
    const store = await openSignatureStore(join(settings.data_dir, 'signatures'));
    const update = async () =>
      await updateSignatures({
        store,
        feeds: settings.signature_feeds,
        signatures_folder: SIGNATURES_FOLDER,
        now: Date.now,
        logger: pino({ level: 'silent' }),
      });
    const { outcome, feeds } = await withShared(settings, async (shared) => {
      await shared?.adopt(store);
      const updated = await update();
      if (updated.outcome !== 'busy') await shared?.publish(store);
      return updated;
    });
    for (const { url, ok, sentence } of feeds) say(`${ok ? 'ok    ' : 'failed'} ${url}: ${sentence}`);
    switch (outcome) {
      case 'busy':
        say('Another update is already running. Nothing was changed.');
        break;
      case 'updated':
        say('New threat definitions are installed. A running server uses them within a minute.');
        break;
      case 'unchanged':
        say('Threat definitions are up to date.');
        break;
      case 'failed':
        say('We couldn’t use every source.');
        break;
    }
    process.exit(outcome === 'failed' || outcome === 'busy' ? 1 : 0);
  } catch (error) {
    process.stderr.write(
      `palisade: We couldn’t update threat definitions: ${error instanceof Error ? error.message : String(error)}\n`,
    );
    process.exit(1);
  }
}
