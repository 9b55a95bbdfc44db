import { fileURLToPath } from 'node:url';
import { pino } from 'pino';
import { openSignatureStore } from '#features/antivirus/signature-store.ts';
import { updateSignatures } from '#features/antivirus/signature-update.ts';
import { parseSettings } from '#platform/settings.ts';

// An update in a process of its own that is killed at one step. Arguments: folder, SIGNATURE_FEEDS, step.
const [folder = '', setting = '', step = ''] = process.argv.slice(2);
await updateSignatures({
  store: await openSignatureStore(folder),
  feeds: parseSettings({ SIGNATURE_FEEDS: setting }).signature_feeds,
  signatures_folder: fileURLToPath(new URL('../signatures', import.meta.url)),
  now: Date.now,
  logger: pino({ level: 'silent' }),
  onStep(reached) {
    if (reached === step) process.kill(process.pid, 'SIGKILL');
  },
});
