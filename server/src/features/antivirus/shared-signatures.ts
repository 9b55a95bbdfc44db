import { createWriteStream } from 'node:fs';
import { readFile, stat } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { digestOf } from '@palisade/scanner/digest';
import type { Kysely } from 'kysely';
import { z } from 'zod';
import { allBlobs, type Blobs } from '#platform/blobs/blobs.ts';
import { takeExclusive } from '#platform/exclusive.ts';
import { fileBytes } from '#platform/file-bytes.ts';
import { type InstallationTables, readFact, writeFact } from '#platform/installation.ts';
import { SET_FILE, type SignatureStore, setNameSchema, stateSchema, type UpdateState } from './signature-store.ts';

/** Signatures of feeds for all servers of a database: the sets are in the shared store, and the database records which one is in use, and the result of the last update. */
export interface SharedSignatures {
  /** Adopts the newest update of any server. Returns whether it brought a new set. @throws StoreAwayError */
  adopt(store: SignatureStore): Promise<boolean>;
  /** Gives an update's result to the other servers. @throws StoreAwayError */
  publish(store: SignatureStore): Promise<void>;
}

const FACT = 'signatures';
/** The set in use and the previous one, which a server may be about to adopt. */
const SETS_KEPT = 2;

const factSchema = z.object({ sets: z.array(setNameSchema), state: stateSchema });

export function createSharedSignatures(parts: { database: Kysely<InstallationTables>; blobs: Blobs }): SharedSignatures {
  const { database, blobs } = parts;

  async function read(): Promise<z.infer<typeof factSchema> | undefined> {
    const fact = await readFact(database, FACT);
    return fact === undefined ? undefined : factSchema.parse(JSON.parse(fact));
  }

  async function fetchSet(store: SignatureStore, name: string): Promise<void> {
    const staged = await store.stage();
    const fetchOne = async (file: string, to: string) =>
      await pipeline(await blobs.get(`${name}/${file}`), createWriteStream(join(staged, to), { flags: 'wx', mode: 0o600 }));
    await fetchOne('set', SET_FILE);
    const { feeds } = store.parse(await readFile(join(staged, SET_FILE), 'utf8'));
    for (const { id, digest } of feeds) {
      await fetchOne(id, id);
      if ((await digestOf(join(staged, id))) !== digest) throw new Error(`The signatures ${name} in the store are damaged.`);
    }
    await store.take(staged, name);
  }

  return {
    async adopt(store) {
      const fact = await read();
      if (fact === undefined) return false;
      const [name] = fact.sets;
      const is_new = name !== undefined && name !== (await store.currentName());
      if (!is_new && (await store.readState())?.attempted_at === fact.state.attempted_at) return false;
      const release = takeExclusive(store.lock_file);
      // An update is running on this server: the next look adopts the result.
      if (release === undefined) return false;
      try {
        if (is_new) {
          await fetchSet(store, name);
          await store.point(name);
          await store.clean();
        }
        await store.writeState(fact.state);
        return is_new;
      } finally {
        release();
      }
    },

    async publish(store) {
      const state: UpdateState | undefined = await store.readState();
      if (state === undefined) return;
      const set = await store.readCurrent();
      const before = (await read())?.sets ?? [];
      const sets = set === undefined ? before : [set.name, ...before.filter((name) => name !== set.name)].slice(0, SETS_KEPT);
      if (set !== undefined && before[0] !== set.name) {
        for (const { id, path } of set.feeds) await blobs.put(`${set.name}/${id}`, fileBytes(path), await stat(path));
        const [first] = set.feeds;
        // Upload the description last, because it names the other files.
        if (first !== undefined) await blobs.put(`${set.name}/set`, fileBytes(join(dirname(first.path), SET_FILE)));
      }
      await writeFact(database, FACT, JSON.stringify({ sets, state }));
      for await (const { key } of allBlobs(blobs)) {
        if (!sets.includes(key.split('/')[0] ?? '')) await blobs.delete(key);
      }
    },
  };
}
