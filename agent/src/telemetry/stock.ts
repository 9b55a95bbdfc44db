import { createHash } from 'node:crypto';
import { basename, join } from 'node:path';
import type { Listening } from '@palisade/contract/agent';
import {
  CHANGE_NAME_MAXIMUM,
  CHANGED_THINGS,
  CHANGES_MAXIMUM,
  type ChangedThing,
  changedThingSchema,
  type SessionChange,
} from '@palisade/contract/session-changes';
import { z } from 'zod';
import { Folder, type ForeignFile, openForeign, splitPath } from '#files/foreign.ts';
import { textOfBytes } from '#files/name-text.ts';

/**
 * Inventory of things that a remote technician could leave behind on a computer, by name, each with a short hash of its content. The content itself is not stored or sent. Every user of the
 * computer can create such files, so every count and size is limited, links are not followed, and only regular files are opened.
 */
export const stockSchema = z.object({
  at: z.string(),
  things: z.array(z.tuple([changedThingSchema, z.string(), z.string()])),
  /** Kinds of things that could not be read completely. */
  unread: z.array(changedThingSchema),
});
export type Stock = z.infer<typeof stockSchema>;

const HOMES_MAXIMUM = 200;
const ENTRIES_MAXIMUM = 2_000;
/** Maximum names that are read of one folder. */
const NAMES_MAXIMUM = 20_000;
const THINGS_MAXIMUM = 30_000;
/** Maximum bytes that are read of dpkg's package list. */
const PACKAGES_BYTES = 64 * 1024 ** 2;
const FILE_BYTES = 1024 ** 2;
const DEPTH_MAXIMUM = 2;

const hashOf = (text: string | Buffer) => createHash('sha256').update(text).digest('hex').slice(0, 16);
const codeOf = (error: unknown) => (error instanceof Error && 'code' in error ? String(error.code) : '');
/** Whether the error means that there is no regular file: a missing path, another kind of file, or a link of another user. */
const isAbsent = (error: unknown) => ['ENOENT', 'ENOTDIR', 'link', 'not_regular'].includes(codeOf(error));

/** Turns untrusted text into a name on one line. */
function nameOf(text: string): string {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are what this takes out
  const line = text.toWellFormed().replaceAll(/[\u0000-\u001f\u007f]/gu, '�');
  return line.length <= CHANGE_NAME_MAXIMUM ? line : `${line.slice(0, CHANGE_NAME_MAXIMUM - 1).toWellFormed()}…`;
}

export interface StockParts {
  /** `/`, or a folder with the same structure. */
  root?: string;
  listening: () => Promise<readonly Listening[]>;
  /** Runs a program and returns its output; undefined if it does not exist or fails. */
  run: (program: string, ...args: string[]) => Promise<string | undefined>;
  now: () => number;
}

/** Groups whose members can gain root rights. */
const PRIVILEGED_GROUPS = ['sudo', 'wheel', 'admin', 'root', 'docker'];
const PROFILES = ['.profile', '.bash_profile', '.bashrc', '.zshrc', '.zprofile', '.xprofile', '.xsessionrc'];
const PROGRAM_FOLDERS = ['/opt', '/usr/local/bin', '/usr/local/sbin', '/snap', '/var/lib/flatpak/app'];
const CRON_FOLDERS = ['cron.d', 'cron.hourly', 'cron.daily', 'cron.weekly', 'cron.monthly'];

/** Takes an inventory of the computer. */
export async function takeStock({ root = '/', listening, run, now }: StockParts): Promise<Stock> {
  const taking = new StockTaking(root);
  const homes = await addAccounts(taking);
  for (const home of homes) await addHome(taking, home);
  await addSystemStarts(taking);
  await addPackages(taking, run);
  await addFirewall(taking, run);
  addListening(taking, await listening());
  return { at: new Date(now()).toISOString(), things: taking.things(), unread: taking.unread() };
}

/** Collects the entries of one inventory. */
class StockTaking {
  readonly #root: string;
  readonly #things = new Map<string, [ChangedThing, string, string]>();
  readonly #unread = new Set<ChangedThing>();

  constructor(root: string) {
    this.#root = root;
  }

  things(): [ChangedThing, string, string][] {
    return [...this.#things.values()];
  }

  unread(): ChangedThing[] {
    return [...this.#unread];
  }

  add(thing: ChangedThing, name: string, content: string | Buffer): void {
    if (this.#things.size >= THINGS_MAXIMUM) {
      this.#unread.add(thing);
      return;
    }
    const key = JSON.stringify([thing, name]);
    const before = this.#things.get(key)?.[2] ?? '';
    // Two things with the same name share an entry, with a hash of both contents.
    const hash = before === '' ? hashOf(content) : hashOf(`${before} ${hashOf(content)}`);
    this.#things.set(key, [thing, nameOf(name), hash]);
  }

  /** Marks a kind of thing as not read completely. */
  addUnread(thing: ChangedThing): void {
    this.#unread.add(thing);
  }

  /** Text of a regular file; empty if there is none. */
  async textOf(thing: ChangedThing, path: string, maximum = FILE_BYTES): Promise<string> {
    return (await this.#read(thing, () => openForeign(this.#at(path)), maximum))?.toString('utf8') ?? '';
  }

  /** Adds a file by its content, or a link by its target, under its path. */
  async addFile(thing: ChangedThing, path: string): Promise<void> {
    const { folder, name } = splitPath(Buffer.from(this.#at(path)));
    await this.#inFolder(
      thing,
      () => Folder.open(folder),
      (opened) => this.#addEntry(thing, opened, name, path, DEPTH_MAXIMUM),
    );
  }

  /** Adds the files in a folder and its subfolders. */
  async addFolder(thing: ChangedThing, path: string): Promise<void> {
    await this.#addEntries(thing, () => Folder.open(this.#at(path)), path, 0);
  }

  /** Adds each name in a folder as an entry. */
  async addNames(thing: ChangedThing, path: string): Promise<void> {
    await this.#inFolder(
      thing,
      () => Folder.open(this.#at(path)),
      async (folder) => {
        for (const name of await this.#entriesOf(thing, folder)) this.add(thing, join(path, textOfBytes(name)), '');
      },
    );
  }

  #at(path: string): string {
    return join(this.#root, path);
  }

  /** The content of a regular file; undefined if there is none. */
  async #read(thing: ChangedThing, open: () => Promise<ForeignFile>, maximum = FILE_BYTES): Promise<Buffer | undefined> {
    let file: ForeignFile | undefined;
    try {
      file = await open();
      if (file.stats.size > BigInt(maximum)) this.#unread.add(thing);
      return await file.readSome(Math.min(Number(file.stats.size), maximum));
    } catch (error) {
      if (!isAbsent(error)) this.#unread.add(thing);
      return undefined;
    } finally {
      await file?.close();
    }
  }

  /** The sorted names in a folder. A folder with more than `NAMES_MAXIMUM` counts as empty, because the order on disk would decide which are read. */
  async #entriesOf(thing: ChangedThing, folder: Folder): Promise<Buffer[]> {
    const names: Buffer[] = [];
    for await (const { name } of folder.entries()) {
      if (names.length >= NAMES_MAXIMUM) {
        this.#unread.add(thing);
        return [];
      }
      names.push(name);
    }
    if (names.length > ENTRIES_MAXIMUM) this.#unread.add(thing);
    return names.toSorted(Buffer.compare).slice(0, ENTRIES_MAXIMUM);
  }

  /** Opens a folder, calls `look`, and closes it. */
  async #inFolder(thing: ChangedThing, open: () => Promise<Folder>, look: (folder: Folder) => Promise<void>): Promise<void> {
    let folder: Folder | undefined;
    try {
      folder = await open();
      await look(folder);
    } catch (error) {
      if (!isAbsent(error)) this.#unread.add(thing);
    } finally {
      await folder?.close();
    }
  }

  async #addEntry(thing: ChangedThing, folder: Folder, name: Buffer, path: string, depth: number): Promise<void> {
    try {
      const stat = await folder.stat(name);
      if (stat.isDirectory() && depth < DEPTH_MAXIMUM) await this.#addEntries(thing, () => folder.folder(name), path, depth + 1);
      else if (stat.isSymbolicLink()) this.add(thing, path, await folder.readLink(name));
      else if (stat.isFile()) this.add(thing, path, (await this.#read(thing, () => folder.file(name))) ?? '');
    } catch (error) {
      if (!isAbsent(error)) this.#unread.add(thing);
    }
  }

  async #addEntries(thing: ChangedThing, open: () => Promise<Folder>, path: string, depth: number): Promise<void> {
    await this.#inFolder(thing, open, async (folder) => {
      for (const name of await this.#entriesOf(thing, folder))
        await this.#addEntry(thing, folder, name, join(path, textOfBytes(name)), depth);
    });
  }
}

/** Adds accounts and their rights. @returns the home folders */
async function addAccounts(taking: StockTaking): Promise<string[]> {
  const homes = new Set<string>();
  for (const line of (await taking.textOf('account', '/etc/passwd')).split('\n').slice(0, ENTRIES_MAXIMUM)) {
    const [name = '', , uid = '', , , home = '', shell = ''] = line.split(':');
    if (name === '') continue;
    taking.add('account', name, `${uid} ${home} ${shell}`);
    if (home.startsWith('/home/') || home === '/root') homes.add(home);
  }
  for (const line of (await taking.textOf('privilege', '/etc/group')).split('\n').slice(0, ENTRIES_MAXIMUM)) {
    const [group = '', , , members = ''] = line.split(':');
    if (!PRIVILEGED_GROUPS.includes(group)) continue;
    for (const member of members.split(',').slice(0, ENTRIES_MAXIMUM))
      if (member.trim() !== '') taking.add('privilege', `${member.trim()} in the group ${group}`, '');
  }
  await taking.addFile('privilege', '/etc/sudoers');
  await taking.addFolder('privilege', '/etc/sudoers.d');
  if (homes.size > HOMES_MAXIMUM) taking.addUnread('autostart');
  return [...homes].slice(0, HOMES_MAXIMUM);
}

/** Adds SSH keys, autostart entries and programs of a home folder. */
async function addHome(taking: StockTaking, home: string): Promise<void> {
  for (const file of ['authorized_keys', 'authorized_keys2']) await addKeys(taking, join(home, '.ssh', file));
  await taking.addFolder('autostart', join(home, '.config/autostart'));
  for (const profile of PROFILES) await taking.addFile('autostart', join(home, profile));
  await taking.addFolder('service', join(home, '.config/systemd/user'));
  await taking.addNames('program', join(home, '.local/bin'));
}

async function addKeys(taking: StockTaking, path: string): Promise<void> {
  for (const line of (await taking.textOf('ssh_key', path)).split('\n').slice(0, ENTRIES_MAXIMUM)) {
    const key = line.trim();
    if (key === '' || key.startsWith('#')) continue;
    // The comment is the name of the key; the hash distinguishes keys with the same comment.
    const comment = key.slice(0, 20_000).split(/\s+/u).slice(2).join(' ');
    const name = `${comment === '' ? 'a key without a name' : comment} in ${path} (${hashOf(key).slice(0, 8)})`;
    taking.add('ssh_key', name, key);
  }
}

/** Adds autostart entries of the system. */
async function addSystemStarts(taking: StockTaking): Promise<void> {
  await taking.addFolder('autostart', '/etc/xdg/autostart');
  await taking.addFolder('autostart', '/etc/profile.d');
  await taking.addFolder('service', '/etc/systemd/system');
  await taking.addFolder('service', '/etc/systemd/user');
  await taking.addFile('scheduled', '/etc/crontab');
  for (const folder of CRON_FOLDERS) await taking.addFolder('scheduled', join('/etc', folder));
  await taking.addFolder('scheduled', '/var/spool/cron');
}

/** The value of a field in a paragraph of dpkg's list; empty if missing. */
function fieldOf(paragraph: string, name: string): string {
  const start = paragraph.startsWith(`${name}: `) ? 0 : paragraph.indexOf(`\n${name}: `) + 1;
  if (start === 0 && !paragraph.startsWith(`${name}: `)) return '';
  const end = paragraph.indexOf('\n', start);
  return paragraph.slice(start + name.length + 2, end < 0 ? undefined : end).trim();
}

async function addPackages(taking: StockTaking, run: StockParts['run']): Promise<void> {
  const status = await taking.textOf('program', '/var/lib/dpkg/status', PACKAGES_BYTES);
  for (const paragraph of status === '' ? [] : status.split('\n\n')) {
    if (!fieldOf(paragraph, 'Status').endsWith(' installed')) continue;
    const version = `${fieldOf(paragraph, 'Version')} ${fieldOf(paragraph, 'Architecture')}`;
    taking.add('program', fieldOf(paragraph, 'Package'), version);
  }
  if (status === '') {
    const listed = await run('rpm', '-qa', '--qf', '%{NAME}\\t%{VERSION}-%{RELEASE}.%{ARCH}\\n');
    // Without dpkg and rpm the installed packages are unknown.
    if (listed === undefined) taking.addUnread('program');
    for (const line of (listed ?? '').split('\n')) {
      const [name = '', version = ''] = line.split('\t');
      if (name !== '') taking.add('program', name, version);
    }
  }
  for (const folder of PROGRAM_FOLDERS) await taking.addNames('program', folder);
}

async function addFirewall(taking: StockTaking, run: StockParts['run']): Promise<void> {
  // `-s` omits counters. Programs change the contents of sets, so only the name of a changed table is reported.
  const listed = await run('nft', '-s', 'list', 'ruleset');
  if (listed === undefined) {
    taking.addUnread('firewall');
    return;
  }
  for (const table of listed.split(/^(?=table )/mu)) {
    const name = /^table (\S+ \S+)/u.exec(table)?.[1];
    // The agent's own table holds the user's rules, whose changes are recorded elsewhere.
    if (name !== undefined && name !== 'inet palisade') taking.add('firewall', name, table);
  }
}

/** Adds open ports without ephemeral ones (RFC 6335: from 49152; Linux: from 32768). */
function addListening(taking: StockTaking, listening: readonly Listening[]): void {
  for (const { protocol, port, program } of listening) {
    if (protocol !== 'tcp' && port >= 32_768) continue;
    const name = `port ${port} (${protocol.toUpperCase()})${program === null ? '' : `, ${basename(program)}`}`;
    taking.add('listening', name, '');
  }
}

/** Differences between two inventories, the most severe first. */
export function compareStock(before: Stock, after: Stock): { changes: SessionChange[]; more: number; unread: ChangedThing[] } {
  const keyOf = ([thing, name]: Stock['things'][number]) => `${thing} ${name}`;
  const [was, is] = [before, after].map(({ things }) => new Map(things.map((one) => [keyOf(one), one])));
  const unread = new Set([...before.unread, ...after.unread]);
  const changes: SessionChange[] = [];
  for (const [key, [thing, name, hash]] of is ?? []) {
    const known = was?.get(key);
    if (known === undefined) changes.push({ thing, how: 'added', name });
    else if (known[2] !== hash) changes.push({ thing, how: 'changed', name });
  }
  // A missing thing of a kind that was not read completely may still exist.
  const isLookedAt = (thing: ChangedThing) => !after.unread.includes(thing);
  for (const [key, [thing, name]] of was ?? [])
    if (is?.has(key) === false && isLookedAt(thing)) changes.push({ thing, how: 'removed', name });
  const rank = ({ thing }: SessionChange) => CHANGED_THINGS.indexOf(thing);
  const sorted = changes.toSorted((one, other) => rank(one) - rank(other) || (one.name < other.name ? -1 : 1));
  return {
    changes: sorted.slice(0, CHANGES_MAXIMUM),
    more: Math.max(0, sorted.length - CHANGES_MAXIMUM),
    unread: CHANGED_THINGS.filter((thing) => unread.has(thing)),
  };
}
