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
 * What somebody could leave behind on a computer, by name, each with a short hash of what it says. Nothing of the content of a file is kept or sent. Whoever has an
 * account here can make such files: every count and size is bounded, links are not followed, and nothing that is no plain file is opened.
 */
export const stockSchema = z.object({
  at: z.string(),
  things: z.array(z.tuple([changedThingSchema, z.string(), z.string()])),
  /** What could not be looked at whole. */
  unread: z.array(changedThingSchema),
});
export type Stock = z.infer<typeof stockSchema>;

const HOMES_MAXIMUM = 200;
const ENTRIES_MAXIMUM = 2_000;
/** Names of one folder that are read at all. */
const NAMES_MAXIMUM = 20_000;
const THINGS_MAXIMUM = 30_000;
/** Of dpkg's list of packages, and of any other file. Bytes. */
const PACKAGES_BYTES = 64 * 1024 ** 2;
const FILE_BYTES = 1024 ** 2;
const DEPTH_MAXIMUM = 2;

const hashOf = (text: string | Buffer) => createHash('sha256').update(text).digest('hex').slice(0, 16);
const codeOf = (error: unknown) => (error instanceof Error && 'code' in error ? String(error.code) : '');
/** Nothing is there, or something that is no plain file, or the way leads through a link of somebody: what is not a file is no thing to name. */
const isAbsent = (error: unknown) => ['ENOENT', 'ENOTDIR', 'link', 'not_regular'].includes(codeOf(error));

/** Foreign text on one line. */
function nameOf(text: string): string {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are what this takes out
  const line = text.toWellFormed().replaceAll(/[\u0000-\u001f\u007f]/gu, '�');
  return line.length <= CHANGE_NAME_MAXIMUM ? line : `${line.slice(0, CHANGE_NAME_MAXIMUM - 1).toWellFormed()}…`;
}

export interface StockParts {
  /** `/`, or a folder in its shape. */
  root?: string;
  listening: () => Promise<readonly Listening[]>;
  /** What a program says, or undefined where it is not there or fails. */
  run: (program: string, ...args: string[]) => Promise<string | undefined>;
  now: () => number;
}

/** Looks at all of it once. */
export async function takeStock({ root = '/', listening, run, now }: StockParts): Promise<Stock> {
  const things = new Map<string, [ChangedThing, string, string]>();
  const unread = new Set<ChangedThing>();
  const at = (path: string) => join(root, path);

  function add(thing: ChangedThing, name: string, content: string | Buffer): void {
    if (things.size >= THINGS_MAXIMUM) {
      unread.add(thing);
      return;
    }
    const key = JSON.stringify([thing, name]);
    const before = things.get(key)?.[2] ?? '';
    // Two of one name are told apart by what they say together.
    things.set(key, [thing, nameOf(name), before === '' ? hashOf(content) : hashOf(`${before} ${hashOf(content)}`)]);
  }

  /** The content of a plain file; undefined where there is none, or it is something else. */
  async function read(thing: ChangedThing, open: () => Promise<ForeignFile>, maximum = FILE_BYTES): Promise<Buffer | undefined> {
    let file: ForeignFile | undefined;
    try {
      file = await open();
      if (file.stats.size > BigInt(maximum)) unread.add(thing);
      return await file.readSome(Math.min(Number(file.stats.size), maximum));
    } catch (error) {
      if (!isAbsent(error)) unread.add(thing);
      return undefined;
    } finally {
      await file?.close();
    }
  }

  const textOf = async (thing: ChangedThing, path: string, maximum?: number) =>
    (await read(thing, () => openForeign(at(path)), maximum))?.toString('utf8') ?? '';

  /** The names in a folder. Of one with more than anybody makes none: which of them come first would be chance. */
  async function entriesOf(thing: ChangedThing, folder: Folder): Promise<Buffer[]> {
    const names: Buffer[] = [];
    for await (const { name } of folder.entries()) {
      if (names.length >= NAMES_MAXIMUM) {
        unread.add(thing);
        return [];
      }
      names.push(name);
    }
    if (names.length > ENTRIES_MAXIMUM) unread.add(thing);
    return names.toSorted(Buffer.compare).slice(0, ENTRIES_MAXIMUM);
  }

  /** Looks at a folder, which is closed afterwards. */
  async function inFolder(
    thing: ChangedThing,
    open: () => Promise<Folder>,
    look: (folder: Folder) => Promise<void>,
  ): Promise<void> {
    let folder: Folder | undefined;
    try {
      folder = await open();
      await look(folder);
    } catch (error) {
      if (!isAbsent(error)) unread.add(thing);
    } finally {
      await folder?.close();
    }
  }

  /** A file, or a link by where it leads, under its path. */
  async function addEntry(thing: ChangedThing, folder: Folder, name: Buffer, path: string, depth: number): Promise<void> {
    try {
      const stat = await folder.stat(name);
      if (stat.isDirectory() && depth < DEPTH_MAXIMUM) await addEntries(thing, () => folder.folder(name), path, depth + 1);
      else if (stat.isSymbolicLink()) add(thing, path, await folder.readLink(name));
      else if (stat.isFile()) add(thing, path, (await read(thing, () => folder.file(name))) ?? '');
    } catch (error) {
      if (!isAbsent(error)) unread.add(thing);
    }
  }

  async function addEntries(thing: ChangedThing, open: () => Promise<Folder>, path: string, depth: number): Promise<void> {
    await inFolder(thing, open, async (folder) => {
      for (const name of await entriesOf(thing, folder))
        await addEntry(thing, folder, name, join(path, textOfBytes(name)), depth);
    });
  }

  async function addFile(thing: ChangedThing, path: string): Promise<void> {
    const { folder, name } = splitPath(Buffer.from(at(path)));
    await inFolder(
      thing,
      () => Folder.open(folder),
      (opened) => addEntry(thing, opened, name, path, DEPTH_MAXIMUM),
    );
  }

  const addFolder = (thing: ChangedThing, path: string) => addEntries(thing, () => Folder.open(at(path)), path, 0);

  /** The names in a folder, each as a thing. */
  async function addNames(thing: ChangedThing, path: string): Promise<void> {
    await inFolder(
      thing,
      () => Folder.open(at(path)),
      async (folder) => {
        for (const name of await entriesOf(thing, folder)) add(thing, join(path, textOfBytes(name)), '');
      },
    );
  }

  async function accounts(): Promise<string[]> {
    const homes = new Set<string>();
    for (const line of (await textOf('account', '/etc/passwd')).split('\n').slice(0, ENTRIES_MAXIMUM)) {
      const [name = '', , uid = '', , , home = '', shell = ''] = line.split(':');
      if (name === '') continue;
      add('account', name, `${uid} ${home} ${shell}`);
      if (home.startsWith('/home/') || home === '/root') homes.add(home);
    }
    for (const line of (await textOf('privilege', '/etc/group')).split('\n').slice(0, ENTRIES_MAXIMUM)) {
      const [group = '', , , members = ''] = line.split(':');
      if (!['sudo', 'wheel', 'admin', 'root', 'docker'].includes(group)) continue;
      for (const member of members.split(',').slice(0, ENTRIES_MAXIMUM))
        if (member.trim() !== '') add('privilege', `${member.trim()} in the group ${group}`, '');
    }
    await addFile('privilege', '/etc/sudoers');
    await addFolder('privilege', '/etc/sudoers.d');
    if (homes.size > HOMES_MAXIMUM) unread.add('autostart');
    return [...homes].slice(0, HOMES_MAXIMUM);
  }

  async function ofHome(home: string): Promise<void> {
    for (const file of ['authorized_keys', 'authorized_keys2']) {
      const path = join(home, '.ssh', file);
      for (const line of (await textOf('ssh_key', path)).split('\n').slice(0, ENTRIES_MAXIMUM)) {
        const key = line.trim();
        if (key === '' || key.startsWith('#')) continue;
        // The comment is the key's name; which key it is, its hash says.
        const comment = key.slice(0, 20_000).split(/\s+/u).slice(2).join(' ');
        add('ssh_key', `${comment === '' ? 'a key without a name' : comment} in ${path} (${hashOf(key).slice(0, 8)})`, key);
      }
    }
    await addFolder('autostart', join(home, '.config/autostart'));
    for (const profile of ['.profile', '.bash_profile', '.bashrc', '.zshrc', '.zprofile', '.xprofile', '.xsessionrc'])
      await addFile('autostart', join(home, profile));
    await addFolder('service', join(home, '.config/systemd/user'));
    await addNames('program', join(home, '.local/bin'));
  }

  async function packages(): Promise<void> {
    const status = await textOf('program', '/var/lib/dpkg/status', PACKAGES_BYTES);
    for (const paragraph of status === '' ? [] : status.split('\n\n')) {
      const field = (name: string) => {
        const start = paragraph.startsWith(`${name}: `) ? 0 : paragraph.indexOf(`\n${name}: `) + 1;
        if (start === 0 && !paragraph.startsWith(`${name}: `)) return '';
        const end = paragraph.indexOf('\n', start);
        return paragraph.slice(start + name.length + 2, end < 0 ? undefined : end).trim();
      };
      if (field('Status').endsWith(' installed'))
        add('program', field('Package'), `${field('Version')} ${field('Architecture')}`);
    }
    if (status === '') {
      const listed = await run('rpm', '-qa', '--qf', '%{NAME}\\t%{VERSION}-%{RELEASE}.%{ARCH}\\n');
      // Neither dpkg nor rpm: programs that come by packages cannot be told.
      if (listed === undefined) unread.add('program');
      for (const line of (listed ?? '').split('\n')) {
        const [name = '', version = ''] = line.split('\t');
        if (name !== '') add('program', name, version);
      }
    }
    for (const folder of ['/opt', '/usr/local/bin', '/usr/local/sbin', '/snap', '/var/lib/flatpak/app'])
      await addNames('program', folder);
  }

  async function firewall(): Promise<void> {
    // Without counters. What is in sets changes by itself; a table that is no longer what it was is named, and no more.
    const listed = await run('nft', '-s', 'list', 'ruleset');
    if (listed === undefined) {
      unread.add('firewall');
      return;
    }
    for (const table of listed.split(/^(?=table )/mu)) {
      const name = /^table (\S+ \S+)/u.exec(table)?.[1];
      // Our own table holds the person's rules, whose changes have a history of their own.
      if (name !== undefined && name !== 'inet palisade') add('firewall', name, table);
    }
  }

  const homes = await accounts();
  for (const home of homes) await ofHome(home);
  await addFolder('autostart', '/etc/xdg/autostart');
  await addFolder('autostart', '/etc/profile.d');
  await addFolder('service', '/etc/systemd/system');
  await addFolder('service', '/etc/systemd/user');
  await addFile('scheduled', '/etc/crontab');
  for (const folder of ['cron.d', 'cron.hourly', 'cron.daily', 'cron.weekly', 'cron.monthly'])
    await addFolder('scheduled', join('/etc', folder));
  await addFolder('scheduled', '/var/spool/cron');
  await packages();
  await firewall();
  // Ports that a program gets by itself come and go (RFC 6335: 49152 and above; Linux: from 32768).
  for (const { protocol, port, program } of await listening())
    if (protocol === 'tcp' || port < 32_768)
      add('listening', `port ${port} (${protocol.toUpperCase()})${program === null ? '' : `, ${basename(program)}`}`, '');

  return { at: new Date(now()).toISOString(), things: [...things.values()], unread: [...unread] };
}

/** What is not in both alike, the gravest first. */
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
  // What was not looked at whole may still be there.
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
