import { createHash } from 'node:crypto';
import { mkdir, open, readdir, readFile, rename, rm, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { leftOutSchema } from '@palisade/contract/engine';
import { digestOf } from '@palisade/scanner/digest';
import { z } from 'zod';

// DATA_DIR/signatures:
//   current            the name of the set in use: one line, replaced by rename
//   sets/<name>/       set.json and one file for each feed; complete before it gets its name, never changed afterwards
//   staging/           what is being put together; whatever lies there without the lock is waste
//   state.json         what the last update did; losing it costs one more download
//   lock               held while an update runs

const SET_NAME_DIGITS = 16;
export const SET_FILE = 'set.json';
export const setNameSchema = z.string().regex(/^[0-9a-f]{16}$/);
const SETS_KEPT = 2;

/** One feed of a set. `digest` is the SHA-256 of its file, in hex; `changed_at` is when this content first arrived. */
const storedFeedSchema = z.object({
  id: z.string().regex(/^[0-9a-f]{16}$/),
  kind: z.enum(['yara', 'sha256', 'domains']),
  digest: z.string(),
  rules: z.int(),
  hashes: z.int(),
  changed_at: z.iso.datetime(),
  /** The first unused entries, and their number. Sets of earlier versions left nothing out. */
  left_out: z.array(leftOutSchema).default([]),
  left_out_total: z.int().default(0),
});
export type StoredFeed = z.infer<typeof storedFeedSchema>;

const setSchema = z.object({ feeds: z.array(storedFeedSchema) });

/** A complete set on disk: where each feed's file lies. */
export interface StoredSet {
  name: string;
  feeds: (StoredFeed & { path: string })[];
}

/** The result of an update for one feed. Times are ISO. */
const feedOutcomeSchema = z.object({
  id: z.string(),
  ok: z.boolean(),
  /** One sentence for an administrator. */
  sentence: z.string(),
  /** When the feed's server last confirmed that this content is the newest; null before. */
  confirmed_at: z.iso.datetime().nullable(),
  /** The SHA-256 of the content that `etag` and `last_modified` belong to. */
  digest: z.string().nullable(),
  etag: z.string().nullable(),
  last_modified: z.string().nullable(),
});
export type FeedOutcome = z.infer<typeof feedOutcomeSchema>;

export const stateSchema = z.object({
  attempted_at: z.iso.datetime(),
  next_at: z.iso.datetime(),
  feeds: z.array(feedOutcomeSchema),
});
/** The result of the last update, and when the next is due. */
export type UpdateState = z.infer<typeof stateSchema>;

export interface SignatureStore {
  lock_file: string;
  /** The name in `current`; undefined without one. */
  currentName(): Promise<string | undefined>;
  /** The set in use, with all files verified; undefined if there is none, or the disk has damaged it. */
  readCurrent(): Promise<StoredSet | undefined>;
  readState(): Promise<UpdateState | undefined>;
  writeState(state: UpdateState): Promise<void>;
  /** Creates an empty folder to build a set in. Call it with the lock held: leftovers of a killed update are removed. */
  stage(): Promise<string>;
  /** Turns the staged folder, with a file named `<id>` for each feed, into a set, not yet in use. */
  publish(staged: string, feeds: readonly StoredFeed[]): Promise<string>;
  /** Turns a staged folder with a complete set of another server into a set of this one, not yet in use. */
  take(staged: string, name: string): Promise<void>;
  /** Parses the description of a set. @throws when it is invalid */
  parse(text: string): { feeds: StoredFeed[] };
  /** Atomically makes a set the one in use. */
  point(name: string): Promise<void>;
  /** Removes sets other than the current and the previous one. */
  clean(): Promise<void>;
}

/** Syncs a file to the disk. */
async function sync(path: string): Promise<void> {
  const handle = await open(path, 'r');
  try {
    await handle.sync();
  } finally {
    await handle.close();
  }
}

async function replace(folder: string, name: string, text: string): Promise<void> {
  const path = join(folder, `${name}.new`);
  const handle = await open(path, 'w', 0o600);
  try {
    await handle.writeFile(text);
    await handle.sync();
  } finally {
    await handle.close();
  }
  await rename(path, join(folder, name));
  await sync(folder);
}

function textOrNothing(path: string): Promise<string | undefined> {
  return readFile(path, 'utf8').catch((error: unknown) => {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return undefined;
    throw error;
  });
}

function parsed<T>(schema: z.ZodType<T>, text: string | undefined): T | undefined {
  if (text === undefined) return undefined;
  try {
    return schema.parse(JSON.parse(text));
  } catch {
    return undefined;
  }
}

/** @throws when the folder cannot be made. */
export async function openSignatureStore(folder: string): Promise<SignatureStore> {
  const sets = join(folder, 'sets');
  const staging = join(folder, 'staging');
  await mkdir(sets, { recursive: true, mode: 0o700 });

  async function currentName(): Promise<string | undefined> {
    const name = (await textOrNothing(join(folder, 'current')))?.trim();
    return setNameSchema.safeParse(name).data;
  }

  async function readSet(name: string): Promise<StoredSet | undefined> {
    const set = parsed(setSchema, await textOrNothing(join(sets, name, SET_FILE)));
    if (set === undefined) return undefined;
    const feeds = set.feeds.map((feed) => ({ ...feed, path: join(sets, name, feed.id) }));
    const digests = await Promise.all(feeds.map(({ path }) => digestOf(path).catch(() => undefined)));
    return feeds.every(({ digest }, index) => digest === digests[index]) ? { name, feeds } : undefined;
  }

  /** Renames a complete set to its name. */
  async function settle(staged: string, name: string, feeds: readonly Pick<StoredFeed, 'id'>[]): Promise<void> {
    for (const { id } of feeds) await sync(join(staged, id));
    // A killed update may have left the same set.
    await rm(join(sets, name), { recursive: true, force: true });
    await rename(staged, join(sets, name));
    await sync(sets);
  }

  const parse = (text: string) => setSchema.parse(JSON.parse(text));

  return {
    parse,
    async take(staged, name) {
      const text = await readFile(join(staged, SET_FILE), 'utf8');
      await sync(join(staged, SET_FILE));
      await settle(staged, name, parse(text).feeds);
    },

    lock_file: join(folder, 'lock'),
    currentName,

    async readCurrent() {
      const name = await currentName();
      return name === undefined ? undefined : await readSet(name);
    },

    readState: async () => parsed(stateSchema, await textOrNothing(join(folder, 'state.json'))),
    writeState: (state) => replace(folder, 'state.json', JSON.stringify(state, null, 2)),

    async stage() {
      await rm(staging, { recursive: true, force: true });
      await mkdir(staging, { mode: 0o700 });
      return staging;
    },

    async publish(staged, feeds) {
      const text = JSON.stringify({ feeds }, null, 2);
      const name = createHash('sha256').update(text).digest('hex').slice(0, SET_NAME_DIGITS);
      await replace(staged, SET_FILE, text);
      if (name === (await currentName())) throw new Error('The set in use cannot be built again.');
      await settle(staged, name, feeds);
      return name;
    },

    point: (name) => replace(folder, 'current', `${name}\n`),

    async clean() {
      const current = await currentName();
      const others: { name: string; made_ms: number }[] = [];
      for (const entry of await readdir(sets)) {
        if (entry === current) continue;
        others.push({ name: entry, made_ms: (await stat(join(sets, entry))).mtimeMs });
      }
      others.sort((one, other) => other.made_ms - one.made_ms);
      // Processes that restart before the server has noticed the change still read the previous set.
      for (const { name } of others.slice(SETS_KEPT - 1)) await rm(join(sets, name), { recursive: true, force: true });
    },
  };
}
