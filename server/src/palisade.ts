import { fail, UsageError } from './command.ts';
import { takeServiceSettings } from './service-settings.ts';

// The commands beside the server: `bin/palisade help`.

interface Command {
  usage: string;
  does: string;
  load: () => Promise<{ run: (args: string[]) => Promise<void> }>;
}

const COMMANDS: Record<string, Command> = {
  backup: {
    usage: 'backup <folder or file> [--with-keys] [--without-store]',
    does: 'writes a backup; the server may run',
    load: () => import('./commands/backup.ts'),
  },
  restore: {
    usage: 'restore <file> [--force] [--trust] [--end-sessions]',
    does: 'puts a backup into an empty data folder; the server is stopped',
    load: () => import('./commands/restore.ts'),
  },
  verify: {
    usage: 'verify [--head <head>]',
    does: 'checks the whole audit log',
    load: () => import('./commands/verify.ts'),
  },
  outbox: { usage: 'outbox', does: 'prints the emails that wait', load: () => import('./commands/outbox.ts') },
  'accept-keys': {
    usage: 'accept-keys <quarantine, two-factor, audit>',
    does: 'gives up what a lost key locks',
    load: () => import('./commands/accept-keys.ts'),
  },
  'update-signatures': {
    usage: 'update-signatures',
    does: 'fetches the signature feeds now',
    load: () => import('./commands/update-signatures.ts'),
  },
  'move-storage': {
    usage: 'move-storage',
    does: 'moves quarantined files of the data folder into the store of STORAGE_URL',
    load: () => import('./commands/move-storage.ts'),
  },
};

function help(): string {
  const width = Math.max(...Object.values(COMMANDS).map(({ usage }) => usage.length));
  const lines = Object.values(COMMANDS).map(({ usage, does }) => `  ${usage.padEnd(width)}  ${does}`);
  return `Usage: palisade <command>\n\n${lines.join('\n')}\n\nSettings are those of the server, see docs/operating.md.\n`;
}

const [name = 'help', ...args] = process.argv.slice(2);
const command = Object.hasOwn(COMMANDS, name) ? COMMANDS[name] : undefined;
if (command === undefined) {
  if (!['help', '--help', '-h'].includes(name)) fail(`There is no command named ${name}. See palisade help.`);
  process.stdout.write(help());
  process.exit(0);
}
takeServiceSettings(process.env);
try {
  const { run } = await command.load();
  await run(args);
} catch (error) {
  const isUsage =
    error instanceof UsageError ||
    (error instanceof TypeError && 'code' in error && String(error.code).startsWith('ERR_PARSE_ARGS'));
  if (!isUsage) throw error;
  fail(`Usage: palisade ${command.usage}`);
}
